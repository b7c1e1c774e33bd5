import { graphql } from '../graph/graphql';
import { useLive, useSoon } from '../graph/live';
import { useAsk } from '../graph/use';
import { count, short } from '../format/units';
import { Failure } from '../shell/parts';
import { toSubscribers } from '../shell/route';
import { useMay } from '../shell/viewer';

interface Fleet {
  total: number;
  active: number;
  barred: number;
  online: number;
  transferring: number;
}

export const fleetCounts = graphql('query Fleet { company { fleet { total active online transferring barred } } }');
const tiles: { key: keyof Fleet; name: string; state: string }[] = [
  { key: 'total', name: 'Subscribers', state: '' },
  { key: 'active', name: 'Active', state: 'active' },
  { key: 'online', name: 'Online now', state: 'online' },
  { key: 'transferring', name: 'Transferring now', state: 'transferring' },
  { key: 'barred', name: 'Barred', state: 'barred' },
];

const subscription = graphql('subscription FleetChanged { subscriberChanged { physicalId } }');

/** How many subscribers are in which state, counted again when some have changed; each tile leads to them. */
export function FleetTiles() {
  const { data, problem, reload } = useAsk(fleetCounts);
  const soon = useSoon(reload, 3_000);
  useLive(useMay('VIEW_SUBSCRIBER') ? subscription : null, { next: soon, connected: soon });
  if (problem) return <Failure problem={problem} retry={reload} />;
  const fleet = data?.company?.fleet;
  return (
    <ul className="tiles" aria-busy={!fleet} aria-label="The fleet in numbers">
      {tiles.map(({ key, name, state }) => (
        <li key={key} className={`tile ${key}${fleet && fleet[key] > 0 ? ' some' : ''}`}>
          <a href={toSubscribers(state ? { state } : {})}>
            <span className="tile-name">{name}</span>
            <strong title={fleet ? count(fleet[key]) : undefined}>{fleet ? figure(fleet[key]) : <i className="blank" />}</strong>
            {key !== 'total' && <span className="hint">{fleet ? share(fleet[key], fleet.total) : '\u00a0'}</span>}
            {key === 'total' && <span className="hint">{fleet ? 'that you can see' : '\u00a0'}</span>}
          </a>
        </li>
      ))}
    </ul>
  );
}

const figure = (n: number) => (n < 10_000_000 ? count(n) : short(n));
const share = (n: number, of: number) => (of === 0 ? '–' : `${((n / of) * 100).toLocaleString('en', { maximumFractionDigits: 1 })}\u00a0%`);
