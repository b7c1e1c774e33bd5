/** What alerts on conditions notice, in words. */
export const kinds: Record<string, string> = {
  SILENT: 'Silent', STORM: 'Too many sessions', FORECAST: 'Will exceed', CHANGE: 'A value changed', SOURCE_SILENT: 'A source is silent',
};

export const traits: Record<string, string> = { IMEI: 'device (IMEI)', ADDRESS: 'IP address', NETWORK: 'network', COUNTRY: 'country', PROTOCOL: 'radio access' };

/** Hours as people say them. */
export function hours(n: number): string {
  if (n === 1) return 'an hour';
  return n % 24 === 0 && n > 24 ? `${n / 24} days` : `${n} hours`;
}
