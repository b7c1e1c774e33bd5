import { bytes, count } from '../format/units';
import { graphql } from '../graph/graphql';
import { nameOfVolume, nameOfWatched } from './words';

/** What alerts notice, in words. */
export const kinds: Record<string, string> = {
  VOLUME: 'Volume',
  SILENT: 'Silent', STORM: 'Too many sessions', FORECAST: 'Will exceed', CHANGE: 'A value changed', SOURCE_SILENT: 'A source is silent',
};

export const traits: Record<string, string> = { IMEI: 'device (IMEI)', ADDRESS: 'IP address', NETWORK: 'network', COUNTRY: 'country', PROTOCOL: 'radio access' };

/** Hours as people say them. */
export function hours(n: number): string {
  if (n === 1) return 'an hour';
  return n % 24 === 0 && n > 24 ? `${n / 24} days` : `${n} hours`;
}

interface Condition {
  silentHours: number | null;
  sourceSilentMinutes: number | null;
  sessionsPerHour: number | null;
  forecastBytes: string | null;
  changesOf: readonly string[];
}

/** The limit of an alert on a condition, in words. */
export function limitOf({ silentHours, sourceSilentMinutes, sessionsPerHour, forecastBytes, changesOf }: Condition): string {
  if (silentHours !== null) return hours(silentHours);
  if (sourceSilentMinutes !== null) return `${count(sourceSilentMinutes)} minutes`;
  if (sessionsPerHour !== null) return `${count(sessionsPerHour)} in an hour`;
  if (forecastBytes !== null) return `${bytes(forecastBytes)} in the period`;
  return changesOf.map((trait) => traits[trait]).join(', ');
}

/** What an alert on a condition is called, such as "Each subscriber of Vans: silent, 24 hours". */
export const nameOfCondition = (of: Parameters<typeof nameOfWatched>[0] & Condition & { kind: string; name?: string | null }): string =>
  of.name ?? `${nameOfWatched(of)}: ${kinds[of.kind]?.toLowerCase()}, ${limitOf(of)}`;

type Named = (Parameters<typeof nameOfVolume>[0] & { __typename: 'VolumeAlert' }) | (Parameters<typeof nameOfCondition>[0] & { __typename: 'ConditionAlert' });

/** What nameOfAlert needs. */
export const alertName = graphql(`
  fragment AlertName on Alert {
    __typename name kind ruleType target
    ... on VolumeAlert { lowerThreshold upperThreshold }
    ... on ConditionAlert { silentHours sourceSilentMinutes sessionsPerHour forecastBytes changesOf }
  }
`);

/** What an alert of any kind is called. */
export const nameOfAlert = (of: Named): string => (of.__typename === 'VolumeAlert' ? nameOfVolume(of) : nameOfCondition(of));
