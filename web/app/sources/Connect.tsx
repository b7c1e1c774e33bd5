import { Empty } from '../shell/parts';
import { to } from '../shell/route';
import { ConnectAccount } from './ConnectAccount';
import { ConnectCarrier } from './ConnectCarrier';
import { ConnectProgram } from './ConnectProgram';
import { ConnectRadius } from './ConnectRadius';
import { useMayConnect } from './Frame';

const ways = [
  { id: 'webhook', name: "Carrier's webhook", about: 'A carrier or platform posts its records to an address of its own: 1NCE, emnify, Twilio, or any other.', view: () => <ConnectCarrier by="webhook" /> },
  { id: 'files', name: 'Files', about: 'Usage comes as CSV or JSON files: by HTTP, by SFTP, or in a folder.', view: () => <ConnectCarrier by="files" /> },
  { id: 'radius', name: 'RADIUS gateway', about: 'A P-GW, GGSN or NAS reports sessions by RADIUS accounting.', view: () => <ConnectRadius /> },
  { id: 'account', name: 'Another account', about: 'Subscribers, tags, alerts and usage are taken over from another server of the documented API.', view: () => <ConnectAccount /> },
  { id: 'program', name: 'By program', about: 'A program of yours sends usage records with an access key.', view: () => <ConnectProgram /> },
];

/** Connects a source of usage: first how it sends, then what it needs. */
export default function Connect({ id }: { id: string }) {
  const may = useMayConnect();
  const way = ways.find((one) => one.id === id);
  return (
    <div className="page wide connecting">
      <p className="crumbs"><a href={to('sources')}>Sources</a>{id !== '' && <> / <a href={to('connect')}>Connect</a></>}</p>
      <div className="heading"><div><h1>{way?.name ?? 'Connect'}</h1><p className="hint">{way?.about ?? 'How does the usage come?'}</p></div></div>
      {!may ? <Empty>Only users of the whole company with the permissions View Statistics Overview and Record Usage can connect sources.</Empty>
        : way ? way.view()
        : id !== '' ? <Empty>There is no such way. <a href={to('connect')}>All ways to connect</a></Empty>
        : (
          <ul className="ways" aria-label="Ways to connect">
            {ways.map(({ id, name, about }) => <li key={id}><a href={to('connectBy', {}, id)}><strong>{name}</strong><span>{about}</span></a></li>)}
          </ul>
        )}
    </div>
  );
}
