import { useViewer } from '../shell/viewer';
import { Copy } from '../ui/Copy';
import type { Address } from './address';
import { fileOf, folderCommand, folderOf, importCommand, isFolderName, postCommand, streamCommand, tokenCommand } from './commands';
import type { Format } from './profile';
import type { Authentication } from './words';

interface Props {
  address: Address;
  source: { name: string; path: string; authentication: Authentication; signatureHeader: string | null };
  format: Format;
}

const hintOf: Record<Authentication, string> = {
  BASIC: 'HTTP Basic. Any user name does, and the secret is the password. Where there is only a field for the address, it can hold both: https://any:SECRET@…',
  BEARER: 'The header Authorization: Bearer with the secret.',
  SIGNATURE: 'The HMAC-SHA256 of the body by the secret, in hexadecimal or base64.',
};

/** What to enter where a carrier asks for an address. */
export function HowToPost({ address, source: { path, authentication, signatureHeader }, format, secret }: Props & { secret: string }) {
  const whole = address.base + path;
  const isOpen = !/^https:/.test(address.base);
  return (
    <>
      <Copy label="Address" text={whole} />
      <p className="hint">{hintOf[authentication]} {authentication === 'SIGNATURE' && <>It stands in the header <code>{signatureHeader}</code>.</>}</p>
      {!address.isStated && <p className="hint">The server does not state its public address (<code>--public-url</code>): this is the one of your browser.</p>}
      {isOpen && <p className="notice">Carriers send over HTTPS, to an address that they can reach. This one is neither encrypted nor, perhaps, public.</p>}
      <Copy label="A test with curl" text={postCommand({ address: whole, authentication, signatureHeader, secret, file: fileOf(format) })} />
      <p className="hint">The file holds records as the carrier sends them. The same records again change nothing.</p>
    </>
  );
}

/** The ways that files of a source can take. */
export function HowToFile({ address, source: { name }, format }: Props) {
  const { company: { externalId } } = useViewer();
  const file = fileOf(format);
  return (
    <>
      <h3>By HTTP, of any length</h3>
      <Copy label="A token, by an access key that may record usage" text={`KEY=… SECRET=…\n${tokenCommand(address.base)}`} />
      <Copy label="A file over HTTP" text={streamCommand(address.base, name, file)} />
      <h3>On the host</h3>
      <Copy label="A file on the host" text={importCommand(externalId, name, file)} />
      {isFolderName(name) && isFolderName(externalId) ? (
        <>
          <h3>A watched folder, also for SFTP</h3>
          <Copy label="The folder, and the server that watches it" text={folderCommand(externalId, name)} />
          <p className="hint">Files in <code>{folderOf(externalId, name)}</code> are read once they are complete, and moved to <code>done</code> or <code>failed</code> with a report beside them. For SFTP, give the carrier a user of OpenSSH that enters this folder alone: <code>docs/sources.md</code> of the release has the settings under SFTP.</p>
        </>
      ) : <p className="hint">The name cannot be that of a watched folder.</p>}
    </>
  );
}
