import { useState } from 'react';
import { count } from '../format/units';
import { graphql, type ResultOf } from '../graph/graphql';
import { useList } from '../graph/list';
import { useAsk } from '../graph/use';
import { Dialog } from '../shell/Dialog';
import { Empty, Failure, Loading, Panel } from '../shell/parts';
import { useMay, useViewer } from '../shell/viewer';
import { Ago } from '../ui/Ago';
import { Copy } from '../ui/Copy';
import { type Column, Table } from '../ui/Table';
import { Frame } from './Frame';
import '../styles/sources.css';

const query = graphql(`
  query DocumentTable($first: Int, $after: String, $count: Boolean!) {
    trustedDocuments(first: $first, after: $after) {
      nodes { documentId name kind createdBy createdAt tool { name } problem }
      totalCount @include(if: $count)
      pageInfo { endCursor hasNextPage }
    }
  }
`);
const one = graphql('query DocumentText($documentId: String!) { trustedDocument(by: { documentId: $documentId }) { text cost problem tool { name description } } }');

type Row = NonNullable<ResultOf<typeof query>['trustedDocuments']>['nodes'][number];

const nameOf = ({ name, documentId }: Row) => name || documentId.slice(0, 12);

/** The operations that access keys with "Trusted documents only" run, and whether this version still runs them. */
export default function Documents() {
  const may = useMay('MANAGE_ACCESS_KEYS');
  const { isRestricted } = useViewer();
  const list = useList(may && !isRestricted ? query : null, {}, ({ trustedDocuments }) => trustedDocuments);
  const [open, setOpen] = useState<Row | null>(null);
  if (isRestricted) return <Frame current="documents"><Empty>Trusted documents are for users of the whole company.</Empty></Frame>;
  if (!may) return <Frame current="documents"><Empty>You need the permission Manage Access Keys to see trusted documents.</Empty></Frame>;
  const columns: Column<Row>[] = [
    { key: 'name', name: 'Operation', width: 220, cell: (row) => <button type="button" className="bare link" onClick={() => setOpen(row)}>{nameOf(row)}</button> },
    { key: 'kind', name: 'Kind', width: 110, cell: ({ kind }) => kind.toLowerCase() },
    { key: 'tool', name: 'Tool for agents', width: 170, cell: ({ tool }) => tool?.name ?? <span className="hint">no</span> },
    { key: 'state', name: 'This version', width: 120, cell: ({ problem }) => (problem === null ? <span className="badge good">runs</span> : <span className="badge upper" title={problem}>refuses it</span>) },
    { key: 'added', name: 'Added', width: 115, cell: ({ createdAt }) => <Ago at={createdAt} /> },
    { key: 'by', name: 'By', width: 200, cell: ({ createdBy }) => createdBy },
    { key: 'id', name: 'Document', width: 520, kind: 'mono', cell: ({ documentId }) => documentId },
  ];
  return (
    <Frame current="documents">
      <p className="hint">Access keys that are limited to trusted documents run these, and those for all companies. <code>simgraph documents</code> adds and removes them.</p>
      <Panel id="list" title={list.total === undefined ? 'Trusted documents' : `${count(list.total)} trusted document${list.total === 1 ? '' : 's'}`} aside={<a href="/docs/documents">How clients send them</a>}>
        <Table label="Trusted documents" list={list} columns={columns} keyOf={({ documentId }) => documentId} none={<Empty>The company has no trusted documents. <code>simgraph documents add</code> adds those of an app.</Empty>} />
      </Panel>
      {open && <Text of={open} close={() => setOpen(null)} />}
    </Frame>
  );
}

/** One document with its text. */
function Text({ of, close }: { of: Row; close: () => void }) {
  const { data, problem } = useAsk(one, { documentId: of.documentId });
  const found = data?.trustedDocument;
  return (
    <Dialog title={nameOf(of)} cancel={close}>
      {problem && <Failure problem={problem} />}
      {!data && !problem && <Loading label="Reading the document" />}
      {data && !found && <Empty>It has been removed.</Empty>}
      {found && (
        <>
          {found.problem !== null && <p role="status">This version does not run it: {found.problem}</p>}
          {found.tool && <p>Agents see it as <code>{found.tool.name}</code>: {found.tool.description}</p>}
          <Copy label="The id that clients send" text={`sha256:${of.documentId}`} />
          <Copy label="Text" text={found.text} />
          <p className="hint">Its price is {count(Number(found.cost))}, as it was when it was added.</p>
        </>
      )}
      <p className="actions">
        <button type="button" autoFocus onClick={close}>Close</button>
      </p>
    </Dialog>
  );
}
