// What GraphiQL formats with. JSON needs no parser of JavaScript, which would
// be the larger half of all formatting code.
import { applyEdits, format as edits } from 'jsonc-parser';
// @ts-expect-error: the file is there, but not among the package's exports.
import prettier from '../../node_modules/prettier/standalone.mjs';

interface Options {
  parser: string;
}

export async function format(text: string, options: Options): Promise<string> {
  if (options.parser !== 'jsonc') return prettier.format(text, options);
  return applyEdits(text, edits(text, undefined, { insertSpaces: true, tabSize: 2 }));
}

export default { format };
