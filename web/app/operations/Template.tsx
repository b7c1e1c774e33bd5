import { type CellValue, csvOf, download, fileName } from '../chart/download';
import { graphql, type ResultOf } from '../graph/graphql';
import { readNow, useDo } from '../graph/use';
import { Failure } from '../shell/parts';
import { useZone } from '../shell/viewer';
import { type Field, fields, needed } from './upload';

const query = graphql(`
  query ChoicesOfTemplate {
    tariffs(first: 100) { nodes { name } pageInfo { hasNextPage } }
    operators(first: 100) { nodes { code name } pageInfo { hasNextPage } }
    groups(first: 100) { nodes { groupId name } pageInfo { hasNextPage } }
  }
`);

type Choices = ResultOf<typeof query>;

const example: Partial<Record<Field, string>> = {
  physicalId: '8944500000000000001', nickname: 'Van 1', subscriberId: '447700900001', contractLength: '24', connectionDate: '2026-11-01', expiryDate: '2028-11-01',
};

/** The lines of a template: a header, and notes with what its cells can name. */
export function linesOf({ tariffs, operators, groups }: Choices, creates: boolean): CellValue[][] {
  const header = creates ? fields : fields.slice(0, fields.indexOf('subscriberId'));
  const values: Partial<Record<Field, CellValue>> = { ...example, tariffName: tariffs?.nodes[0]?.name, operatorCode: operators?.nodes[0]?.code, groupId: groups?.nodes[0]?.groupId };
  const listed = (field: Field, rows: CellValue[][] = [], more = false) => [...rows.map((row) => [`# ${field}`, ...row]), ...(more ? [[`# ${field}`, '…', 'there are more']] : [])];
  return [
    [...header],
    ['# Lines that begin with # are left out. Format the columns of numbers as text.'],
    ...(creates ? [[`# A new subscriber needs ${needed.join(', ')}. Other cells may be empty.`]] : []),
    header.map((field) => (field === 'physicalId' ? `# ${values[field]}` : values[field] ?? '')),
    ...listed('tariffName', tariffs?.nodes.map(({ name }) => [name]), tariffs?.pageInfo.hasNextPage),
    ...(creates ? listed('operatorCode', operators?.nodes.map(({ code, name }) => [code, name]), operators?.pageInfo.hasNextPage) : []),
    ...listed('groupId', groups?.nodes.map(({ groupId, name }) => [groupId, name]), groups?.pageInfo.hasNextPage),
  ];
}

/** Downloads a file to fill in, with the tariffs, operators and groups of the company. */
export function Template({ creates }: { creates: boolean }) {
  const timeZone = useZone();
  const save = useDo(async () => {
    download(fileName('Template', 'csv', timeZone), 'text/csv;charset=utf-8', csvOf(linesOf(await readNow(query, {}), creates)));
  });
  return (
    <div>
      <button type="button" disabled={save.busy} onClick={() => void save.run()}>Download a template</button>
      {save.problem && <Failure problem={save.problem} />}
    </div>
  );
}
