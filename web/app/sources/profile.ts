// A profile as it is edited: texts that the server reads and checks.
import { graphql, type ResultOf, type VariablesOf } from '../graph/graphql';

export const profilesQuery = graphql(`
  query SourceProfiles {
    sourceProfiles { name description format records delimiter fields { field expression } skip counters unit direction timeZone dateFormats isReady version changedAt }
  }
`);
export const previewQuery = graphql(`
  query PreviewSourceProfile($by: SourceProfileChoice!, $sample: String!) {
    previewSourceProfile(by: $by, sample: $sample) {
      place payload isSkipped error field
      record { physicalId imsi msisdn recordId sessionId startedAt endedAt mobileOriginated mobileTerminated isCumulative }
    }
  }
`);

export type Profile = NonNullable<ResultOf<typeof profilesQuery>['sourceProfiles']>[number];
export type Previewed = NonNullable<ResultOf<typeof previewQuery>['previewSourceProfile']>[number];
type Input = NonNullable<Extract<VariablesOf<typeof previewQuery>['by'], { profile: unknown }>['profile']>;
export type Field = Profile['fields'][number]['field'];
export type Format = Profile['format'];
type Unit = Profile['unit'];

export interface Draft extends Pick<Profile, 'name' | 'format' | 'counters' | 'unit' | 'direction'> {
  /** Empty for none. */
  description: string;
  records: string;
  delimiter: string;
  skip: string;
  timeZone: string;
  fields: { field: Field; expression: string }[];
  /** One a line. */
  dateFormats: string;
}

export const formats: Record<Format, string> = { JSON: 'JSON', NDJSON: 'JSON, a record a line', CSV: 'CSV with a header', CLOUDEVENTS: 'CloudEvents' };
export const counters: Record<Profile['counters'], string> = { DELTA: 'since the record before', CUMULATIVE: 'of the session so far', DAY_TOTAL: 'of the day so far' };
export const units: Record<Unit, string> = { BYTES: 'bytes', KB: 'kB (1,000 bytes)', KIB: 'KiB (1,024 bytes)', MB: 'MB (1,000,000 bytes)', MIB: 'MiB (1,048,576 bytes)' };
export const directions: Record<Profile['direction'], string> = { MOBILE_TERMINATED: 'received (MT)', MOBILE_ORIGINATED: 'sent (MO)' };
export const fields: Record<Field, string> = {
  PHYSICAL_ID: 'ICCID or physicalId', IMSI: 'IMSI', MSISDN: 'MSISDN', SUBSCRIBER_ID: 'subscriberId', STARTED_AT: 'Start', ENDED_AT: 'End', DAY: 'Day of a total',
  MOBILE_ORIGINATED: 'Sent (MO)', MOBILE_TERMINATED: 'Received (MT)', VOLUME: 'Volume without direction', RECORD_ID: 'Id of the record', SESSION_ID: 'Session', EVENT: 'Event of the session',
  CAUSE: 'Cause of the end', PROTOCOL: 'Protocol', IP_ADDRESS: 'IP address', APN: 'APN', RAT_TYPE: 'Radio access', IMEI: 'IMEI', VISITED_NETWORK: 'Visited network', NAS: 'Network element',
};

export const draftOf = ({ dateFormats, fields, name, description, format, records, delimiter, skip, counters, unit, direction, timeZone }: Profile): Draft => ({
  name, description: description ?? '', format, records: records ?? '', delimiter: delimiter ?? '', skip: skip ?? '', counters, unit, direction, timeZone: timeZone ?? '',
  fields: fields.map(({ field, expression }) => ({ field, expression })), dateFormats: dateFormats.join('\n'),
});

/** What is sent of a draft: fields without an expression are left out. */
export const inputOf = ({ dateFormats, fields, name, description, ...draft }: Draft): Input => ({
  ...draft, name: name.trim(), description: description.trim(),
  fields: fields.filter(({ expression }) => expression.trim() !== ''),
  dateFormats: dateFormats.split('\n').map((one) => one.trim()).filter(Boolean),
});

/** Whether two drafts are the same but for their names and descriptions. */
export const readsAs = (a: Draft, b: Draft): boolean => {
  const plain = (draft: Draft) => JSON.stringify(Object.entries({ ...inputOf(draft), name: '', description: '' }).sort(([x], [y]) => (x < y ? -1 : 1)));
  return plain(a) === plain(b);
};

// Names that carriers give to what a record has, without their signs, in lower case.
const usual: Partial<Record<Field, string[]>> = {
  PHYSICAL_ID: ['physicalid', 'iccid', 'simiccid', 'sim', 'deveui'],
  IMSI: ['imsi'],
  MSISDN: ['msisdn', 'phone', 'phoneno', 'phonenumber'],
  STARTED_AT: ['startedat', 'start', 'starttime', 'starttimestamp', 'begin', 'createdat', 'sessionstart', 'from'],
  ENDED_AT: ['endedat', 'end', 'endtime', 'endtimestamp', 'stop', 'stoptime', 'closedat', 'sessionend', 'timestamp', 'to'],
  MOBILE_ORIGINATED: ['mobileoriginated', 'tx', 'up', 'uplink', 'upload', 'uplinkdata', 'uplinkbytes', 'bytesup', 'sent', 'dataupload'],
  MOBILE_TERMINATED: ['mobileterminated', 'rx', 'down', 'downlink', 'download', 'downlinkdata', 'downlinkbytes', 'bytesdown', 'received', 'datadownload'],
  VOLUME: ['volume', 'total', 'totalbytes', 'bytes', 'usage', 'datausage', 'kb', 'kib', 'mb', 'mib', 'volumekb', 'volumemb'],
  RECORD_ID: ['recordid', 'id', 'cdrid', 'eventid'],
  SESSION_ID: ['sessionid', 'session', 'datasessionsid'],
  APN: ['apn', 'accesspoint'],
  IP_ADDRESS: ['ipaddress', 'ip'],
  IMEI: ['imei'],
};

const others = (Object.keys(usual) as Field[]).slice(3);

const unitNames: [RegExp, Unit][] = [[/kib$/, 'KIB'], [/mib$/, 'MIB'], [/kb$|kilobytes$/, 'KB'], [/mb$|megabytes$/, 'MB']];
const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
const reserved = new Set(['in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while', 'true', 'false', 'null']);

/** The expression that reads what stands at a path of a record. */
export const expressionOf = (path: string[]): string =>
  `r${path.map((name) => (/^[A-Za-z_]\w*$/.test(name) && !reserved.has(name) ? `.${name}` : `[${JSON.stringify(name)}]`)).join('')}`;

/** A first profile for a sample: how it is written, and the fields whose names are usual. */
export function guess(sample: string): Pick<Draft, 'format' | 'records' | 'delimiter' | 'fields' | 'unit'> {
  const text = sample.replace(/^\ufeff/, '').trim();
  const json = /^[[{]/.test(text) ? readJSON(text) : null;
  if (json) return { format: json.format, records: json.records, delimiter: '', ...mapped(pathsOf(json.record)) };
  const line = text.split(/\r?\n/, 1)[0] ?? '';
  const delimiter = [',', ';', '\t', '|'].reduce((best, one) => (line.split(one).length > line.split(best).length ? one : best));
  const columns = line.split(delimiter).map((name) => name.trim().replace(/^"(.*)"$/, '$1').replaceAll('""', '"'));
  return { format: 'CSV', records: '', delimiter: delimiter === ',' ? '' : delimiter, ...mapped(columns.map((name) => [name])) };
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Obj = { [key: string]: Json };
const isObject = (value: Json | undefined): value is Obj => typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** How JSON is written, where its records are, and the first of them. */
function readJSON(text: string): { format: Format; records: string; record: Obj } | null {
  const lines = text.split(/\r?\n/).filter(Boolean);
  const line = parsed(lines[0]!);
  if (isObject(line) && lines.length > 1) return { format: 'NDJSON', records: '', record: line };
  const whole = parsed(text) ?? parsed(cutSample(text, 'JSON', 1));
  const found = whole === undefined ? null : recordsIn(whole, []);
  if (!found) return null;
  return 'specversion' in found.record ? { format: 'CLOUDEVENTS', records: '', record: found.record } : { format: 'JSON', ...found };
}

/** The first array of objects, at most two names deep; else the document is one record. */
function recordsIn(value: Json, path: string[]): { records: string; record: Obj } | null {
  if (Array.isArray(value)) return isObject(value[0]) ? { records: path.join('.'), record: value[0] } : null;
  if (!isObject(value)) return null;
  if (path.length < 2 && !('specversion' in value)) {
    for (const [name, below] of Object.entries(value)) {
      const found = Array.isArray(below) || isObject(below) ? recordsIn(below, [...path, name]) : null;
      if (found && found.records !== '') return found;
    }
  }
  return path.length === 0 ? { records: '', record: value } : null;
}

/** The paths to the texts and numbers of a record, the shortest first. */
function pathsOf(record: Obj): string[][] {
  const found: string[][] = [];
  for (let level: [string[], Obj][] = [[[], record]], depth = 0; level.length > 0 && depth < 3; depth++) {
    const next: typeof level = [];
    for (const [path, value] of level) {
      for (const [name, below] of Object.entries(value)) {
        if (isObject(below)) next.push([[...path, name], below]);
        else if (typeof below === 'string' || typeof below === 'number') found.push([...path, name]);
      }
    }
    level = next;
  }
  return found;
}

function mapped(paths: string[][]): Pick<Draft, 'fields' | 'unit'> {
  const chosen: Draft['fields'] = [];
  let unit: Unit = 'BYTES';
  const find = (field: Field) => {
    // An id below the record is that of something else, such as of its SIM.
    const near = field === 'RECORD_ID' ? paths.filter(({ length }) => length === 1) : paths;
    const path = (usual[field] ?? []).map((name) => near.find((path) => plain(path.at(-1)!) === name)).find(Boolean);
    if (!path) return false;
    chosen.push({ field, expression: expressionOf(path) });
    if (field === 'VOLUME') unit = unitNames.find(([name]) => name.test(plain(path.at(-1)!)))?.[1] ?? unit;
    return true;
  };
  // One name of the subscriber is enough: records whose names are of different subscribers are rejected.
  for (const field of ['PHYSICAL_ID', 'IMSI', 'MSISDN'] as const) if (find(field)) break;
  for (const field of others) {
    if (field === 'VOLUME' && chosen.some(({ field }) => field === 'MOBILE_ORIGINATED' || field === 'MOBILE_TERMINATED')) continue;
    find(field);
  }
  return { fields: chosen, unit };
}

/** How many records, and characters, of a sample are tried. */
export const mostRecords = 100;
export const mostCharacters = 200_000;

/** The beginning of what a sender sends, as whole records: the server tries no longer sample. */
export function cutSample(text: string, format: Format, most = mostRecords): string {
  const head = text.slice(0, mostCharacters);
  return format === 'CSV' || format === 'NDJSON' ? cutLines(head, format === 'CSV' ? most + 1 : most, head.length < text.length) : cutJSON(head, most);
}

/** So many lines. A line within quotes goes on. */
function cutLines(text: string, most: number, isCut: boolean): string {
  let [lines, quoted, end] = [0, false, 0];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') quoted = !quoted;
    if (text[i] !== '\n' || quoted) continue;
    end = i + 1;
    if (++lines === most) return text.slice(0, end);
  }
  return isCut && end > 0 ? text.slice(0, end) : text;
}

/** So many items of the outermost array, in whatever it stands; numbers stay as they are written. */
function cutJSON(text: string, most: number): string {
  const open: string[] = [];
  let [inText, items, depth, end] = [false, 0, -1, 0];
  for (let i = 0; i < text.length; i++) {
    const sign = text[i]!;
    if (inText) {
      if (sign === '\\') i++;
      else if (sign === '"') inText = false;
      continue;
    }
    if (sign === '"') inText = true;
    else if (sign === '[' || sign === '{') {
      open.push(sign === '[' ? ']' : '}');
      if (sign === '[' && depth < 0) depth = open.length;
    } else if (sign === ']' || sign === '}') {
      if (open.length === depth) return text;
      open.pop();
    } else if (sign === ',' && open.length === depth) {
      items++;
      end = i;
      if (items === most) break;
    }
  }
  return depth < 0 || end === 0 ? text : text.slice(0, end) + open.slice(0, depth).reverse().join('');
}

/** What becomes of the records of a sample, counted. */
export const summaryOf = (all: Previewed[]) => ({
  booked: all.filter(({ record }) => record !== null).length,
  skipped: all.filter(({ isSkipped }) => isSkipped).length,
  failed: all.filter(({ error }) => error !== null).length,
});

export const saveProfile = graphql('mutation SetSourceProfile($input: SetSourceProfileInput!) { setSourceProfile(input: $input) { profile { name version } } }');

/** A profile before anything is known of its sender. */
export const emptyDraft: Draft = {
  name: '', description: '', format: 'JSON', records: '', delimiter: '', skip: '', counters: 'DELTA', unit: 'BYTES', direction: 'MOBILE_TERMINATED', timeZone: 'UTC', fields: [], dateFormats: '',
};
