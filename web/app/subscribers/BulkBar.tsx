import { Suspense, useState } from 'react';
import { count } from '../format/units';
import { graphql } from '../graph/graphql';
import { mutate, sendMutation, useAsk, useDo } from '../graph/use';
import { nouns } from '../picker/choices';
import { Suggested } from '../picker/later';
import { part } from '../shell/part';
import { Failure } from '../shell/parts';
import { offerUndo } from '../shell/undo';
import { useMay, useViewer } from '../shell/viewer';
import { given, Reason } from '../ui/Reason';
import type { Filter } from './filters';
import type { Chosen } from './selected';

const attach = graphql('mutation AttachTagToMany($input: AttachTagInput!) { attachTag(input: $input) { attached } }');
const detach = graphql('mutation DetachTagFromMany($input: DetachTagInput!) { detachTag(input: $input) { subscribers { physicalId } } }');
const carried = graphql('query TagsOfChosen($filter: SubscriberFilter) { subscribers(first: 100, filter: $filter) { nodes { physicalId tags(limit: 100) { name } } } }');

// Loaded with the first subscriber that is chosen.
const BulkChange = part(() => import('./BulkChange'));

/** How many subscribers one step tags. */
export const most = 100;

interface Props {
  chosen: Chosen;
  /** What the list is filtered by. */
  filter: Filter | undefined;
  shown: number;
  total: number | undefined;
}

/** What can be done with the chosen subscribers: tags for a few at once, and any change by an operation. */
export function BulkBar({ chosen, filter, shown, total }: Props) {
  const { ids, matching, chooseMatching, clear } = chosen;
  const { permissions } = useViewer();
  const [changing, setChanging] = useState(false);
  const mayChange = permissions.some((one) => one === 'MANAGE_INVENTORY' || one === 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER');
  const may = useMay('VIEW_SUBSCRIBER', 'UPDATE_THE_DETAILS_OF_A_SUBSCRIBER');
  const number = matching ? (total ?? ids.size) : ids.size;
  const further = !matching && total !== undefined && total > shown && ids.size >= shown;
  return (
    <section className="bulk" aria-label="Chosen subscribers">
      <p role="status"><strong>{count(number)}</strong> chosen</p>
      {further && <button type="button" className="quiet" onClick={chooseMatching}>Choose all {count(total)} that match</button>}
      <button type="button" className="quiet" onClick={clear}>Choose none</button>
      <span className="grow" />
      {!may ? <span className="hint">You need the permission Update the Details of a Subscriber to tag them.</span>
        : number > most || (matching && ids.size < number) ? null
        : <TagForm ids={[...ids]} />}
      {mayChange && <button type="button" onClick={() => setChanging(true)}>Change …</button>}
      {changing && <Suspense><BulkChange title="Change the chosen subscribers" ids={ids} matching={matching} filter={filter} close={() => setChanging(false)} /></Suspense>}
    </section>
  );
}

function TagForm({ ids }: { ids: string[] }) {
  const [name, setName] = useState('');
  const [reason, setReason] = useState('');
  const filter = { physicalId: { in: ids } };
  const read = useAsk(carried, { filter }).data?.subscribers?.nodes ?? [];
  const tagName = name.trim();
  const without = read.filter(({ tags }) => tags && !tags.some((tag) => tag.name === tagName)).map(({ physicalId }) => physicalId);
  const withTag = read.filter(({ tags }) => tags?.some((tag) => tag.name === tagName)).map(({ physicalId }) => physicalId);
  const put = useDo(async () => {
    await mutate(attach, { input: { tagName, physicalIds: without, ...given(reason) } });
    setReason('');
    offerUndo({ text: `The tag ${tagName} is on ${count(without.length)} more.`, undo: () => sendMutation(detach, { input: { tagName, physicalIds: without } }) });
  });
  const take = useDo(async () => {
    await mutate(detach, { input: { tagName, physicalIds: withTag, ...given(reason) } });
    setReason('');
    offerUndo({ text: `The tag ${tagName} is taken off ${count(withTag.length)}.`, undo: () => sendMutation(attach, { input: { tagName, physicalIds: withTag } }) });
  });
  const problem = put.problem ?? take.problem;
  return (
    <form className="row" onSubmit={(event) => { event.preventDefault(); if (without.length > 0 && tagName) void put.run(); }}>
      <Suspense fallback={<input aria-label="Tag" placeholder="Tag" disabled />}><Suggested of={nouns.tag} label="Tag" isBare placeholder="Tag" maxLength={255} value={name} change={setName} /></Suspense>
      <Reason isBare value={reason} change={setReason} />
      <button type="submit" className="primary" disabled={tagName === '' || put.busy || without.length === 0}>Put on{tagName && ` ${count(without.length)}`}</button>
      <button type="button" disabled={tagName === '' || take.busy || withTag.length === 0} onClick={() => void take.run()}>Take off{tagName && ` ${count(withTag.length)}`}</button>
      {problem && <Failure problem={problem} />}
    </form>
  );
}
