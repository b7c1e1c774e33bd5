import MiniSearch from 'minisearch';

/** A section of the handbook, as the server has it. */
export interface Hit {
  address: string;
  document: string;
  heading: string;
}

interface Section extends Hit {
  text: string;
}

export type Search = (words: string) => Hit[];

// Words of questions that stand everywhere.
const common = new Set('a an and are as at be by can do does for from has have how i if in is it its me my of on or that the their them there they this to was what when where which who why will with you your'.split(' '));

/** What was measured and decided is less often looked for than how to do something. */
const weight = (address: string) => (/^\/docs\/(benchmarks|decisions|architecture)/.test(address) ? 0.3 : 1);

/** Indexes sections. Headings count more than text, and the beginning of a word finds it. */
export function index(sections: Section[]): Search {
  const all = new MiniSearch<Section>({
    idField: 'address',
    fields: ['document', 'heading', 'text'],
    storeFields: ['address', 'document', 'heading'],
    processTerm: (term) => {
      const word = term.toLowerCase();
      if (common.has(word)) return null;
      return word.length > 3 ? word.replace(/(ies|y)$/, 'i').replace(/(es|s|ing|ed|e)$/, '') : word;
    },
    searchOptions: { boost: { heading: 4, document: 2 }, prefix: (term) => term.length > 2, fuzzy: (term) => (term.length > 5 ? 0.15 : false), boostDocument: weight },
  });
  all.addAll(sections);
  return (words) => all.search(words) as unknown as Hit[];
}

/** Reads the sections of this server. */
export async function load(): Promise<Search> {
  const response = await fetch('/docs/sections.json');
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  return index((await response.json()) as Section[]);
}
