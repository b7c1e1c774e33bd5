// Commands to copy, for a POSIX shell.

/** A word of a command. */
export const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);

export interface Sender {
  /** The whole address. */
  address: string;
  authentication: 'BASIC' | 'BEARER' | 'SIGNATURE';
  /** Null for other ways than SIGNATURE. */
  signatureHeader: string | null;
  secret: string;
  /** The file with the records. */
  file: string;
}

/** Posts a file as the sender of a source does. */
export function postCommand({ address, authentication, signatureHeader, secret, file }: Sender): string {
  const body = `--data-binary ${quoted(`@${file}`)}`;
  switch (authentication) {
    case 'BASIC':
      return `curl -u ${quoted(`any:${secret}`)} ${body} ${quoted(address)}`;
    case 'BEARER':
      return `curl -H ${quoted(`Authorization: Bearer ${secret}`)} ${body} ${quoted(address)}`;
    case 'SIGNATURE':
      return `curl -H "${signatureHeader ?? 'X-Signature'}: $(openssl dgst -sha256 -hmac ${quoted(secret)} ${quoted(file)} | sed 's/.*= *//')" ${body} ${quoted(address)}`;
  }
}

/** Stands where the secret would, which is shown only once. */
export const hiddenSecret = 'SECRET';

const endings = { JSON: 'json', NDJSON: 'ndjson', CSV: 'csv', CLOUDEVENTS: 'json' };

/** What a file of the format is called in commands. */
export const fileOf = (format: keyof typeof endings): string => `records.${endings[format]}`;

/** Exchanges an access key for a token. */
export const tokenCommand = (base: string): string =>
  `TOKEN=$(curl -s -u "$KEY:$SECRET" -d grant_type=client_credentials ${quoted(`${base}/oauth/token`)} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`;

/** Sends a file of a source, of any length. */
export const streamCommand = (base: string, source: string, file: string): string =>
  `curl -H "Authorization: Bearer $TOKEN" --data-binary ${quoted(`@${file}`)} ${quoted(`${base}/usage/records?source=${encodeURIComponent(source)}`)}`;

export const importCommand = (company: string, source: string, file: string): string =>
  `simgraph import ${quoted(file)} --source ${quoted(source)} --company ${quoted(company)}`;

/** The folder below --drop-dir that a source's files are put in. */
export const folderOf = (company: string, source: string): string => `/srv/drop/${company}/${source}`;

export const folderCommand = (company: string, source: string): string =>
  `mkdir -p ${quoted(folderOf(company, source))}\nsimgraph serve --drop-dir /srv/drop`;

export const radiusCommand = (company: string, client: string, network: string): string =>
  `simgraph radius client add ${quoted(client)} --network ${quoted(network)} --company ${quoted(company)}`;

export const moveCommand = (company: string, from: string): string => `simgraph move --from ${quoted(from)} --key-file key.txt --company ${quoted(company)}`;

/** Whether a folder can have that name. */
export const isFolderName = (name: string): boolean => !/[/\0]/.test(name) && !name.startsWith('.');

/** Whether a text is an address, or a network in CIDR. The server checks the rest. */
export function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const isFour = /^(\d{1,3}\.){3}\d{1,3}$/.test(address) && address.split('.').every((part) => Number(part) <= 255);
  const isSix = /^[0-9a-fA-F:.]+$/.test(address) && (address.match(/:/g) ?? []).length >= 2;
  return (isFour || isSix) && (bits === undefined || Number(bits) <= (isFour ? 32 : 128));
}

/** A record of a program, for a subscriber, that ended at a time. */
export const exampleRecord = (source: string, physicalId: string, at: Date) => ({
  source, recordId: '1', physicalId, startedAt: at.toISOString().replace(/\.\d+/, ''), endedAt: at.toISOString().replace(/\.\d+/, ''), mobileOriginated: 1200, mobileTerminated: 48000,
});

/** Sends a line of NDJSON for each record. */
export const recordCommand = (base: string, record: object): string =>
  `curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/x-ndjson' --data-binary ${quoted(JSON.stringify(record))} ${quoted(`${base}/usage/records`)}`;

/** The same by the graph. */
export const mutationCommand = (base: string, record: object): string => {
  const query = 'mutation ($records: [UsageRecordInput!]!) { recordUsage(input: {records: $records}) { results { status reason } } }';
  return `curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' --data-binary ${quoted(JSON.stringify({ query, variables: { records: [record] } }))} ${quoted(`${base}/graphql`)}`;
};
