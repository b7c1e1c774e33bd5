import { type ReactNode, useState } from 'react';
import { kinds as alertKinds } from '../alerts/conditions';
import { bytes, useSystem } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { type List, useList } from '../graph/list';
import { wordsOf } from '../operations/words';
import { Empty, Failure, Loading, Panel } from '../shell/parts';
import { to } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import '../styles/lists.css';
import { commandKinds, commandStates } from './Commands';
import { type Happening, merged, readOn, type Read, titleOf } from './timeline';

const alerts = graphql(`
  query TimeLineAlerts($physicalId: String!, $first: Int, $after: String, $count: Boolean!) {
    alertLog(first: $first, after: $after, filter: { physicalId: { eq: $physicalId } }) {
      nodes { id alertId kind state text createdAt isSilenced ... on VolumeLogEntry { limitBoundary threshold usage } }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);
const sessions = graphql(`
  query TimeLineSessions($physicalId: String!, $first: Int, $after: String, $count: Boolean!) {
    subscriber(by: {physicalId: $physicalId}) {
      sessions(first: $first, after: $after) {
        nodes { id beganAt reportedAt endedAt cause total ratType visitedNetwork { code country { name } } }
        totalCount @include(if: $count)
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`);
const commands = graphql(`
  query TimeLineCommands($physicalId: String!, $first: Int, $after: String, $count: Boolean!) {
    subscriber(by: {physicalId: $physicalId}) {
      commands(first: $first, after: $after) {
        nodes { commandId kind state reason requestedAt operation { operationId description } }
        totalCount @include(if: $count)
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`);
const operations = graphql(`
  query TimeLineOperations($physicalId: String!, $first: Int, $after: String, $count: Boolean!) {
    subscriber(by: {physicalId: $physicalId}) {
      operationResults(first: $first, after: $after) {
        nodes { id changes { field before after } operation { operationId description reason startedBy startedAt undoOf } }
        totalCount @include(if: $count)
        pageInfo { endCursor hasNextPage }
      }
    }
  }
`);
const notes = graphql(`
  query TimeLineNotes($physicalId: String!, $first: Int, $after: String, $count: Boolean!) {
    notes(first: $first, after: $after, filter: { physicalId: { eq: $physicalId } }) {
      nodes { noteId text startsAt owner }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);
const audit = graphql(`
  query TimeLineChanges($physicalId: String!, $first: Int, $after: String, $count: Boolean!) {
    auditLog(first: $first, after: $after, filter: { or: [{ subjectId: { eq: $physicalId } }, { physicalIds: { eq: $physicalId } }] }) {
      nodes { sequence at action subjectType subjectId actor door requestId reason changes { field before after } }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);

type Kind = 'change' | 'alert' | 'session' | 'command' | 'note';

interface Entry extends Happening {
  kind: Kind;
  title: ReactNode;
  text: string;
  who?: string;
  /** Why, in the words of who did it. */
  reason?: string | null;
}

const kinds: [Kind | '', string][] = [['', 'All'], ['change', 'Changes'], ['alert', 'Alerts'], ['session', 'Sessions'], ['command', 'Commands'], ['note', 'Notes']];
const names: Record<Kind, string> = { change: 'Change', alert: 'Alert', session: 'Session', command: 'Command', note: 'Note' };

/** How many entries are added at a time. */
const step = 25;

/** What happened to a subscriber, the newest first: changes with who made them, alerts, sessions, commands to its carrier, and notes about it. */
export function TimeLine({ physicalId }: { physicalId: string }) {
  const [kind, choose] = useState<Kind | ''>('');
  const [length, setLength] = useState(step);
  const { lists, problem, reload, reading } = useLists(physicalId, kind);
  const { isRestricted } = useViewer();
  const mayAudit = useMay('VIEW_A_USERS_DETAILS') && !isRestricted;
  const mayAlerts = useMay('VIEW_MONITORING_ALERTS');
  useSystem();
  const all = reading ? [] : merged(lists);
  const on = readOn(lists);
  const shown = all.slice(0, length);
  const more = () => {
    setLength(length + step);
    if (all.length < length + step) on?.();
  };
  return (
    <Panel id="time-line" title="Time line" aside={<span className="row">{mayAlerts && <a href={to('alertLog', { subscriber: physicalId })}>Its alert log</a>}{mayAudit && <a href={to('audit', { subjectId: physicalId })}>Its audit log</a>}</span>}>
      <div className="row">
        <div className="switch" role="group" aria-label="What the time line shows">
          {kinds.map(([key, name]) => <button key={key} type="button" aria-pressed={key === kind} onClick={() => { choose(key); setLength(step); }}>{name}</button>)}
        </div>
      </div>
      {problem && <Failure problem={problem} retry={reload} />}
      {reading && !problem && <Loading label="Reading what happened" />}
      {!reading && all.length === 0 && !on && !problem && <Empty>Nothing has happened yet.</Empty>}
      <ol className="time-line" aria-label="What happened, the newest first">
        {shown.map(({ key, kind, title, text, who, reason, at }) => (
          <li key={key} className={kind}>
            <span className="badge">{names[kind]}</span>
            <span className="entry-text"><strong>{title}</strong><span className="hint">{[text, who && `by ${who}`].filter(Boolean).join(', ')}</span>{reason && <span>Reason: {reason}</span>}</span>
            <span className="hint"><Ago at={at} /></span>
          </li>
        ))}
      </ol>
      {(on || all.length > shown.length) && !reading && <p className="actions"><button type="button" onClick={more}>Show older</button></p>}
    </Panel>
  );
}

/** What the viewer may see of the kind, or of all. */
function useLists(physicalId: string, kind: Kind | '') {
  const { isRestricted } = useViewer();
  const may = {
    alert: useMay('VIEW_MONITORING_ALERTS'), session: useMay('VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER'), command: useMay('VIEW_SUBSCRIBER'), note: useMay('VIEW_STATISTICS_OVERVIEW'), audit: useMay('VIEW_A_USERS_DETAILS') && !isRestricted,
  };
  const wanted = (of: Kind, allowed: boolean) => allowed && (kind === '' || kind === of);
  const variables = { physicalId };
  const read = {
    alerts: useList(wanted('alert', may.alert) ? alerts : null, variables, ({ alertLog }) => alertLog),
    sessions: useList(wanted('session', may.session) ? sessions : null, variables, ({ subscriber }) => subscriber?.sessions),
    commands: useList(wanted('command', may.command) ? commands : null, variables, ({ subscriber }) => subscriber?.commands),
    operations: useList(wanted('change', true) ? operations : null, variables, ({ subscriber }) => subscriber?.operationResults),
    notes: useList(wanted('note', may.note) ? notes : null, variables, ({ notes }) => notes),
    changes: useList(wanted('change', may.audit) ? audit : null, variables, ({ auditLog }) => auditLog),
  };
  const lists: Read<Entry>[] = [
    entries(read.alerts, alertOf), entries(read.sessions, sessionOf(physicalId)),
    entries(read.commands, commandOf), entries(read.operations, operationOf), entries(read.notes, noteOf), entries(read.changes, changeOf(physicalId)),
  ];
  const all = Object.values(read);
  return {
    lists,
    problem: all.find(({ problem }) => problem)?.problem,
    reading: all.some(({ empty, reading }) => empty && reading),
    reload: () => all.forEach((list) => list.reload()),
  };
}

const entries = <T,>({ rows, more }: List<T>, of: (row: T) => Entry): Read<Entry> => ({ rows: rows.map(of), more });

type Nodes<Q, K extends string> = NonNullable<ResultOf<Q>[K & keyof ResultOf<Q>]> extends { nodes: (infer Row)[] } ? Row : never;
type Of<Q, K extends string> = NonNullable<ResultOf<Q>['subscriber' & keyof ResultOf<Q>]> extends infer S ? NonNullable<S[K & keyof S]> extends { nodes: (infer Row)[] } ? Row : never : never;

const silenced = (is: boolean) => (is ? ', silenced' : '');

function alertOf(entry: Nodes<typeof alerts, 'alertLog'>): Entry {
  const { id, alertId, kind, state, text, createdAt, isSilenced } = entry;
  const volume = 'limitBoundary' in entry ? entry : null;
  const title = volume ? `${volume.limitBoundary === 'UPPER' ? 'Upper' : 'Lower'} threshold exceeded` : `${alertKinds[kind]}${state === 'RESOLVED' ? ', over' : ''}`;
  return {
    key: `alert/${id}`, kind: 'alert', at: createdAt, title: alertId === null ? <a href={to('conditions')}>{title}</a> : <a href={to('alert', {}, String(alertId))}>{title}</a>,
    text: `${volume ? `${bytes(volume.usage)} used, above ${bytes(volume.threshold)}` : text}${silenced(isSilenced)}`,
  };
}

const sessionOf = (physicalId: string) => ({ id, beganAt, reportedAt, endedAt, cause, total, ratType, visitedNetwork }: Of<typeof sessions, 'sessions'>): Entry => {
  const network = visitedNetwork && [visitedNetwork.code, visitedNetwork.country?.name].filter(Boolean).join(' ');
  // The sessions of a span began before its end.
  const until = new Date(Date.parse(endedAt ?? reportedAt) + 1).toISOString();
  return {
    key: `session/${id}`, kind: 'session', at: beganAt, title: <a href={to('subscriber', { from: beganAt, to: until }, physicalId)}>{`${bytes(total)}${endedAt ? '' : ', open'}`}</a>,
    text: [network, ratType, endedAt && cause && `ended by ${cause}`].filter(Boolean).join(', '),
  };
};

/** Commands stand in the same tab, with what can be done about them. */
const showCommands = () => document.getElementById('commands-title')?.scrollIntoView({ block: 'center' });

function commandOf({ commandId, kind, state, reason, requestedAt, operation }: Of<typeof commands, 'commands'>): Entry {
  const title = `${commandKinds[kind]}: ${commandStates[state]}`;
  return {
    key: `command/${commandId}`, kind: 'command', at: requestedAt, title: operation ? <a href={to('operation', {}, operation.operationId)}>{title}</a> : <button type="button" className="bare link" onClick={showCommands}>{title}</button>,
    text: [reason, operation?.description].filter(Boolean).join(', '),
  };
}

function operationOf({ id, changes, operation }: Of<typeof operations, 'operationResults'>): Entry {
  return {
    key: `operation/${id}`, kind: 'change', at: operation!.startedAt, title: <a href={to('operation', {}, operation!.operationId)}>{operation!.undoOf ? 'Undo' : operation!.description || 'Operation'}</a>,
    text: wordsOf(changes), who: operation!.startedBy, reason: operation!.reason,
  };
}

const noteOf = ({ noteId, text, startsAt, owner }: Nodes<typeof notes, 'notes'>): Entry => ({ key: `note/${noteId}`, kind: 'note', at: startsAt, title: text, text: '', who: owner });

const changeOf = (physicalId: string) => ({ sequence, at, action, subjectType, subjectId, actor, door, requestId, reason, changes }: Nodes<typeof audit, 'auditLog'>): Entry => {
  const isOther = subjectType !== 'Subscriber';
  // Of what is about several subscribers, the entry names them all.
  const own = changes.filter(({ field }) => !isOther || (field !== 'physicalIds' && field !== 'physicalId'));
  return {
    key: `change/${sequence}`, kind: 'change', at, title: <a href={to('audit', { subjectId: physicalId, ...(requestId && { requestId }) })}>{titleOf(action, isOther ? subjectId : null)}</a>,
    text: own.length > 0 ? wordsOf(own) : '', who: `${actor || 'the service'} (${door})`, reason,
  };
};
