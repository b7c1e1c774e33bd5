import type { ReactNode } from 'react';
import { day } from '../format/time';
import { Panel } from '../shell/parts';
import { to, toSubscriber } from '../shell/route';
import { useZone } from '../shell/viewer';
import { Fold } from '../ui/Fold';
import { States } from './States';
import type { Subscriber } from './subscriber';

const names = {
  CELLULAR: { physical: 'ICCID', subscriber: 'MSISDN' },
  NON_IP: { physical: 'Device EUI', subscriber: 'Device EUI' },
  SATELLITE: { physical: 'IMEI', subscriber: 'Subscription ID' },
};

/** The state and the record of a subscriber, in the words of its kind. On a phone the first few until all are asked for. */
export function Facts({ of: s }: { of: Subscriber }) {
  const timeZone = useZone();
  const date = (at: string) => day(at, timeZone);
  const facts: [string, ReactNode][] = [
    ['State', <States of={s} />],
    ['Group', s.group && <a href={to('group', {}, String(s.group.groupId))}>{s.group.name}</a>],
    [names[s.kind].physical, <span className="mono">{s.physicalId}</span>],
    ...(s.kind === 'NON_IP' ? [] : [[names[s.kind].subscriber, <span className="mono">{s.subscriberId}</span>] as [string, ReactNode]]),
    ['IMSI', s.imsi && <span className="mono">{s.imsi}</span>],
    ['Fixed address', s.fixedIpAddress && <span className="mono">{s.fixedIpAddress}</span>],
    ['Data number', s.dataNumber],
    ['Operator', `${s.operatorName} (${s.operatorCode})`],
    ['Tariff', s.tariffName],
    ['Line rental', rental(s)],
    ['Contract', `${date(s.connectionDate)} – ${date(s.expiryDate)}${s.contractLength === null ? '' : `, ${s.contractLength} months`}`],
    ['Terminated', s.terminateDate && date(s.terminateDate)],
    ['Type', s.subscriberType === 'PHYSICAL' ? 'physical' : 'virtual profile'],
    ['EID', s.eid && <span className="mono">{s.eid}</span>],
    ['SM-DP+', s.smdpProvider],
    ['On eUICC', s.parent && <><Linked id={s.parent.physicalId} />{s.parent.isEnabledOnParent ? ' · enabled' : ' · not enabled'}</>],
    ['Profiles', s.profiles && s.profiles.length > 0 && <ul className="plain">{s.profiles.map((p) => <li key={p.physicalId}><Linked id={p.physicalId} name={p.nickname} /></li>)}</ul>],
  ];
  const known = facts.filter(([, value]) => value);
  return (
    <Panel id="facts" title="Record">
      <Fold of={known.length} most={4} all={`All ${known.length} facts`}>
        {(className) => (
          <dl className={`facts ${className}`}>
            {known.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
          </dl>
        )}
      </Fold>
    </Panel>
  );
}

const Linked = ({ id, name }: { id: string; name?: string | null }) => <a href={toSubscriber(id)} className={name ? undefined : 'mono'}>{name || id}</a>;

function rental({ lineRental, tariff }: Subscriber): string | null {
  if (lineRental === null || !tariff) return null;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: tariff.currency });
  return `${format.format(lineRental / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2))} a month`;
}
