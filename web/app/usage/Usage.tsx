import { Suspense, useMemo, useState } from 'react';
import { csvOf, download, fileName } from '../chart/download';
import { AddToDashboard } from '../dashboards/Forms';
import { linkTo } from '../explore/share';
import { textOf } from '../graph/release';
import { momentInZone } from '../format/time';
import { useAsk, useDo } from '../graph/use';
import { part } from '../shell/part';
import { Empty, Failure, Panel, Waiting } from '../shell/parts';
import { go, to } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';
import { useGroupNames } from '../picker/choices';
import { History } from '../ui/History';
import { Printed } from '../ui/Printed';
import { Controls } from './Controls';
import { Questions, SaveForm } from './Kept';
import { type Kept, list, one } from './kept';
import { type Definition, definitionOf, inWords, paramsOf, same } from './question';
import { Reports, SendQuestion } from './Reports';
import { linesOf } from './rows';
import { Shown } from './Shown';
import type { Asked } from './span';
import { useAnswer } from './useAnswer';
import { ExportAll } from '../ui/ExportAll';
import '../styles/lists.css';
import '../styles/usage.css';

const Notes = part(() => import('../notes/Notes'));

/** How long a span the exports have by country, in milliseconds. */
const mostByCountry = (31 * 24 + 1) * 3_600_000;

/** What the export of the usage of a question selects: by subscriber, and by the split where exports have that. */
export function exportedBy(d: Definition, span: Asked, timeZone: string): { filter: object; more: Record<string, string> } {
  const more: Record<string, string> = { from: new Date(span.from).toISOString(), to: new Date(span.to).toISOString(), interval: d.interval, timeZone };
  const isLacking = d.split === 'SUBSCRIBER' || d.split === 'SOURCE' || (d.split === 'COUNTRY' && (d.groupId !== null || span.to - span.from > mostByCountry));
  if (d.split && !isLacking) more.by = `SUBSCRIBER,${d.split}`;
  if (d.groupId !== null) more.group = String(d.groupId);
  return { filter: { ...(d.tagName !== null && { tags: { eq: d.tagName } }), ...(d.physicalId !== null && { physicalId: { eq: d.physicalId } }) }, more };
}

/** Questions about usage: each stands in the address, and can be kept. */
export default function Usage({ params }: { params: URLSearchParams }) {
  if (!useMay('VIEW_STATISTICS_OVERVIEW')) return <Page><Empty>You need the permission View Statistics Overview to ask about usage.</Empty></Page>;
  return <Opened params={params} />;
}

const Page = ({ children }: { children: React.ReactNode }) => (
  <div className="page wide">
    <div className="heading"><h1>Usage</h1></div>
    {children}
  </div>
);

/** The question of the address, or the kept one that it names. */
function Opened({ params }: { params: URLSearchParams }) {
  const questionId = params.get('question');
  const asked = useAsk(questionId ? one : null, { questionId: questionId ?? '' });
  const kept = questionId ? (asked.data?.question ?? null) : null;
  const definition = useMemo(() => (!params.has('span') && kept ? kept.definition : definitionOf(params)), [params, kept]);
  if (questionId && !params.has('span') && !kept) {
    return (
      <Page>
        {asked.problem ? <Failure problem={asked.problem} retry={asked.reload} /> : asked.data
          ? <Empty>There is no such question, or it is not shared with you. <a href={to('usage')}>Ask another</a></Empty>
          : <p className="loading" role="status">Reading the question …</p>}
      </Page>
    );
  }
  return <Builder definition={definition} kept={kept} />;
}

const narrow = '(max-width: 640px)';

function Builder({ definition: d, kept }: { definition: Definition; kept: Kept | null }) {
  const { company } = useViewer();
  const { timeZone } = company;
  const groups = useGroupNames([d.groupId]);
  const maySee = useMay('VIEW_SUBSCRIBER');
  const questions = useAsk(list);
  const [open, setOpen] = useState(() => !matchMedia(narrow).matches);
  const [saving, setSaving] = useState<'save' | 'new' | 'dashboard' | 'send' | null>(null);
  const words = inWords(d, groups.get(String(d.groupId)));
  const { fault, span, operation, asked, result } = useAnswer(d);
  const edit = useDo(async () => {
    const { plain } = await import('./plain');
    const { query, variables } = plain(await textOf(operation!.document), operation!.variables);
    const link = await linkTo({ query, variables: JSON.stringify(variables, null, 2) });
    go(link.slice(link.indexOf('#')));
  });
  const all = (questions.data ?? questions.former)?.company?.questions ?? undefined;
  const folders = [...new Set((all?.nodes ?? []).flatMap(({ folder }) => folder ?? []))].sort();
  const isChanged = kept !== null && !same(kept.definition, d);
  const change = (next: Definition) => go(to('usage', paramsOf(next, kept?.questionId ?? null)));
  return (
    <div className="page wide usage">
      <div className="heading">
        <div>
          <h1>{kept ? kept.name : 'Usage'}</h1>
          <p className="hint">{words}{isChanged && ' · changed, not saved'}</p>
        </div>
        <div className="row">
          {kept && <History of={kept.questionId} />}
          <button type="button" disabled={fault !== null} onClick={() => setSaving('dashboard')}>Add to dashboard</button>
          <button type="button" disabled={fault !== null} onClick={() => setSaving('send')}>Send by mail…</button>
          {kept?.isEditable && <button type="button" onClick={() => setSaving('save')}>Save</button>}
          <button type="button" className={kept ? undefined : 'primary'} onClick={() => setSaving('new')}>{kept ? 'Save as' : 'Save'}</button>
        </div>
      </div>
      <details className="question" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Change the question</summary>
        <Controls of={d} change={change} />
      </details>
      <Printed about={span ? `${momentInZone(span.from, timeZone)} to ${momentInZone(span.to, timeZone)}` : undefined} />
      <Panel id="answer" title="Answer" aside={(
        <div className="row">
          <button type="button" className="quiet" disabled={!operation || edit.busy} onClick={() => void edit.run()}>Open in the editor</button>
          <button type="button" className="quiet" disabled={!result} aria-label="Download the answer as CSV" onClick={() => result && download(fileName(kept?.name ?? words, 'csv', timeZone), 'text/csv;charset=utf-8', csvOf(linesOf(d, result, timeZone)))}>CSV</button>
          {span && operation && maySee && <ExportAll of="usage" {...exportedBy(d, span, timeZone)} />}
        </div>
      )}>
        {fault !== null ? <Empty>{fault}</Empty> : !operation ? <Empty>This span has not begun.</Empty> : (
          <div className="answered" aria-busy={asked.loading}>
            {asked.problem && <Failure problem={asked.problem} retry={asked.reload} />}
            {result === null && <Empty>There is no such {d.groupId !== null ? 'group' : d.tagName !== null ? 'tag' : 'subscriber'}, or you do not see it.</Empty>}
            {result && span && <Shown of={d} asked={span} result={result} label={words} timeZone={timeZone} />}
            {result === undefined && !asked.problem && <Waiting label="Adding up usage" rows={8} />}
          </div>
        )}
      </Panel>
      {questions.problem && <Failure problem={questions.problem} retry={questions.reload} />}
      <Questions of={all} current={kept?.questionId ?? null} />
      <Reports />
      <Suspense><Notes /></Suspense>
      {saving === 'dashboard' && <AddToDashboard question={kept && !isChanged ? kept : null} definition={d} close={() => setSaving(null)} />}
      {saving === 'send' && <SendQuestion kept={kept} definition={d} words={words} close={() => setSaving(null)} />}
      {(saving === 'save' || saving === 'new') && <SaveForm of={saving === 'save' ? kept : null} definition={d} folders={folders} close={() => setSaving(null)} />}
    </div>
  );
}
