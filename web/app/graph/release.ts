// The release of this page. After an upgrade, and while instances are upgraded one by one,
// a server may have another one: it lacks the files of this page and may not know its operations.
import type { Document } from './graphql';
import { Problem } from './problem';
import { noteUnreachable } from './reach';

/** What is wrong where the server has another release than this page. */
export const newRelease = () => new Problem('NEW_RELEASE', 'The server runs another release than this page.');

/** Reports why a part of this release cannot be loaded. */
export async function whyMissing(): Promise<Problem> {
  try {
    if (await isReplaced()) return newRelease();
    return new Problem('NOT_LOADED', 'This part of the page could not be loaded.');
  } catch {
    noteUnreachable();
    return new Problem('UNREACHABLE', 'The server cannot be reached.');
  }
}

/** Reports whether the server has another release of the page. Throws where it cannot be reached. */
export async function isReplaced(): Promise<boolean> {
  const response = await fetch('/', { cache: 'no-store', headers: { Accept: 'text/html' } });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const { pathname } = new URL(document.querySelector<HTMLScriptElement>('script[type=module][src]')!.src);
  return !(await response.text()).includes(pathname);
}

let texts: Promise<Record<Document, string>> | undefined;

/** Reads the texts of the operations of this release. Once read they are there after an upgrade, too. */
export const readTexts = () =>
  (texts ??= fetch(import.meta.env.OPERATIONS as string)
    .then((response) => (response.ok ? (response.json() as Promise<Record<Document, string>>) : Promise.reject(new Error(`The server answered ${response.status}.`))))
    .catch(async () => {
      texts = undefined;
      throw await whyMissing();
    }));

/** The text of an operation of this page. Fails with a Problem. */
export const textOf = async (of: Document): Promise<string> => (await readTexts())[of]!;
