// What the page asks for what people type.
import { enter, graph, textOf } from './browser.js';
import { eventually, pageTests } from './tab.js';

const inTab = pageTests();

inTab('a whole ICCID is looked up by an index alone; a part of one, and one that nobody has, by what contains it', async (tab) => {
  const { subscribers: { nodes: [{ physicalId }] } } = await graph('{ subscribers(first: 1, filter: {physicalId: {like: "894902"}}) { nodes { physicalId } } }');
  await enter(tab);
  const searches = [];
  tab.on('request', (request) => /query (Search\w*)/.test(textOf(request)) && searches.push(/query (\w+)/.exec(textOf(request))[1]));
  const field = tab.getByRole('combobox', { name: 'Search subscribers' });
  for (const [text, expected] of [[physicalId, ['SearchWhole']], [physicalId.slice(1), ['SearchWhole', 'Search']], [physicalId.slice(-8), ['Search']]]) {
    searches.length = 0;
    await field.fill(text);
    await tab.getByRole('option').filter({ hasText: physicalId }).first().waitFor();
    await eventually(() => searches, expected, text);
    await field.fill('');
  }
  await field.fill('999999999999999999');
  await tab.getByText('No subscriber fits.').waitFor();
});
