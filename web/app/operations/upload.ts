import { Problem } from '../graph/problem';
import { refuse, sessionId } from '../session';
import { given } from '../ui/Reason';
import type { Policy } from './words';

/** The fields that a column can have. */
export const fields = [
  'physicalId', 'nickname', 'groupId', 'addTags', 'removeTags', 'isBarred', 'tariffName', 'terminateDate',
  'subscriberId', 'operatorCode', 'contractLength', 'connectionDate', 'expiryDate', 'imsi', 'dataNumber', 'fixedIpAddress',
  'kind', 'subscriberType', 'isActive', 'eid', 'smdpProvider', 'parent', 'isEnabledOnParent',
] as const;
/** What a line of a new subscriber must have. */
export const needed: Field[] = ['physicalId', 'subscriberId', 'operatorCode', 'tariffName', 'contractLength', 'connectionDate', 'expiryDate'];
export type Field = (typeof fields)[number];

/** How much of a file is read to find its columns. */
const headLength = 65_536;

/** Other names that columns often have. */
const usual: Record<string, Field> = { iccid: 'physicalId', sim: 'physicalId', deveui: 'physicalId', imei: 'physicalId', name: 'nickname', group: 'groupId', tag: 'addTags', tags: 'addTags', barred: 'isBarred', tariff: 'tariffName', msisdn: 'subscriberId', operator: 'operatorCode', ip: 'fixedIpAddress', contractinmonths: 'contractLength', starts: 'connectionDate', ends: 'expiryDate' };

/** The columns of a file, as the server reads its first line. */
export async function columnsOf(file: File): Promise<string[]> {
  const text = (await file.slice(0, headLength).text()).replace(/^\ufeff/, '');
  const end = text.search(/\r?\n/);
  const line = end < 0 ? text : text.slice(0, end);
  const separator = [',', ';', '\t'].reduce((best, one) => (line.split(one).length > line.split(best).length ? one : best));
  const quoted = new RegExp(`(?:^|${separator})(?:"((?:[^"]|"")*)"|([^${separator}]*))`, 'g');
  return [...line.matchAll(quoted)].map(([, inQuotes, bare]) => (inQuotes?.replaceAll('""', '"') ?? bare ?? '').trim());
}

/** The fields that the columns seem to have, each once; '' leaves a column out. */
export function guess(columns: string[]): (Field | '')[] {
  const taken = new Set<string>();
  return columns.map((column) => {
    const plain = column.toLowerCase().replaceAll(/[^a-z]/g, '');
    const field = fields.find((one) => one.toLowerCase() === column.toLowerCase()) ?? usual[plain];
    if (!field || taken.has(field)) return '';
    taken.add(field);
    return field;
  });
}

interface Started {
  operationId: string;
}

interface Options {
  errorPolicy: Policy;
  create: boolean;
  reason: string;
}

/** Sends a file, which starts a dry run. */
export async function upload(file: File, columns: string[], mapped: (Field | '')[], { errorPolicy, create, reason }: Options): Promise<Started> {
  const used = sessionId();
  const query = new URLSearchParams({ validateOnly: 'true', errorPolicy, ...(create && { create: 'true' }), ...given(reason) });
  columns.forEach((column, i) => column && query.append('map', `${column}=${mapped[i]}`));
  let response: Response;
  try {
    response = await fetch(`/operations?${query}`, { method: 'POST', headers: { 'Content-Type': 'text/csv' }, body: file });
  } catch {
    throw new Problem('UNREACHABLE', 'The server cannot be reached, or the file has changed since it was chosen.');
  }
  if (response.status === 401) refuse(used);
  const answer = (await response.json().catch(() => null)) as (Started & { error?: { code?: string; message?: string; requestId?: string } }) | null;
  if (response.ok && answer) return answer;
  throw new Problem(answer?.error?.code ?? 'INTERNAL_ERROR', answer?.error?.message ?? `The server answered ${response.status} without a readable body.`, answer?.error?.requestId);
}
