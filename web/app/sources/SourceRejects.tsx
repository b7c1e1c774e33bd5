import { useState } from 'react';
import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { mutate, useDo } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Failure } from '../shell/parts';
import { Ago } from '../ui/Ago';
import { Copy } from '../ui/Copy';
import { useMayConnect } from './Frame';
import { PagedPanel } from './PagedPanel';
import { indented } from './Preview';
import { countsInWords, Reason } from './words';

const query = graphql(`query RejectsOfSource($first: Int, $after: String, $last: Int, $before: String, $name: String!) {
  sourceRejects(first: $first, after: $after, last: $last, before: $before, filter: {sourceName: {eq: $name}}) {
    nodes { id reason field payload isReplayable times firstAt lastAt }
    totalCount pageInfo { startCursor endCursor hasNextPage hasPreviousPage }
  }
}`);
type Reject = NonNullable<ResultOf<typeof query>['sourceRejects']>['nodes'][number];

const replay = graphql('mutation ReplaySourceRejects($input: ReplaySourceRejectsInput!) { replaySourceRejects(input: $input) { counts { accepted duplicates waiting rejected skipped } } }');

/** The records of a source that could not be used, to be read again by its profile of now. */
export function SourceRejects({ name }: { name: string }) {
  const may = useMayConnect();
  const [open, setOpen] = useState<Reject | null>(null);
  const [done, setDone] = useState('');
  const again = useDo(async () => {
    setDone('');
    const { replaySourceRejects } = await mutate(replay, { input: { sourceName: name } });
    if (replaySourceRejects) setDone(`Read again: ${countsInWords(replaySourceRejects.counts)}.`);
  });
  return (
    <>
      <p className="notice" role="status" hidden={done === ''}>{done}</p>
      {again.problem && <Failure problem={again.problem} />}
      <PagedPanel
        id="rejects" title="Rejected records" query={query} variables={{ name }} refreshed={10} of={(data) => data.sourceRejects}
        empty="No record was rejected."
        action={may && <button type="button" disabled={again.busy} onClick={() => void again.run()}>Read again</button>}
        columns={<><th scope="col">Reason</th><th scope="col">Field</th><th scope="col" className="number">Times</th><th scope="col">First</th><th scope="col">Last</th><th scope="col">Record</th></>}
        row={(of) => (
          <tr key={of.id}>
            <td className="reason">{of.reason}</td>
            <td>{of.field ? <code>{of.field}</code> : '–'}</td>
            <td className="number">{count(of.times)}</td>
            <td className="time"><Ago at={of.firstAt} /></td>
            <td className="time"><Ago at={of.lastAt} /></td>
            <td><button type="button" className="bare link" aria-label={`Show the record: ${of.reason}`} onClick={() => setOpen(of)}>Show</button></td>
          </tr>
        )}
      />
      {open && (
        <Dialog title="Rejected record" passing cancel={() => setOpen(null)}>
          <p><Reason field={open.field} text={open.reason} /></p>
          <Copy label="The record" text={indented(open.payload)} />
          {!open.isReplayable && <p className="hint">It cannot be read again: only its beginning is kept.</p>}
          <p className="actions"><button type="button" autoFocus onClick={() => setOpen(null)}>Close</button></p>
        </Dialog>
      )}
    </>
  );
}
