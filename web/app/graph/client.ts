// The way to the graph: operations over POST, subscriptions over the WebSocket that
// all windows share. The cookie of the session goes with both. The page sends the ids of
// its operations; texts are for the editor, and for servers of other releases.
import { lookAgain, refuse, sessionId } from '../session';
import type { Document } from './graphql';
import { clientName } from './name';
import { Problem, problemOf } from './problem';
import { check, noteUnreachable } from './reach';
import { newRelease, textOf } from './release';
import { subscribeShared } from './shared';

/** An operation by its text, as the editor has it, or by its id. */
export type Params = ({ query: string } | { documentId: Document }) & {
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
};

type Variables = Record<string, unknown>;
interface Options {
  signal?: AbortSignal;
  keepalive?: boolean;
}

export interface GraphError {
  message: string;
  path?: (string | number)[];
  locations?: { line: number; column: number }[];
  extensions?: { code?: string; requestId?: string; field?: string; [key: string]: unknown };
}

export interface Answer<T = unknown> {
  data?: T | null;
  errors?: GraphError[];
  extensions?: Record<string, unknown>;
}

export const endpoint = '/graphql';

/** Sends an operation; with keepalive also while the page is being left. Errors of the graph are in the answer; others are thrown as a Problem. */
export async function send<T>(params: Params, { signal, keepalive }: Options = {}): Promise<Answer<T>> {
  const used = sessionId();
  let response: Response;
  try {
    response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        ...clientName,
        'Content-Type': 'application/json',
        Accept: 'application/graphql-response+json, application/json;q=0.9',
      },
      body: JSON.stringify(params),
      signal,
      keepalive,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    noteUnreachable();
    throw new Problem('UNREACHABLE', 'The server cannot be reached.');
  }
  if (response.status === 401) refuse(used);
  const answer = (await response.json().catch(() => null)) as Answer<T> | null;
  if (answer === null) throw new Problem('INTERNAL_ERROR', `The server answered ${response.status} without a readable body.`);
  return answer;
}

/** Whether a server of another release has answered that it does not know an operation of the page. */
let isOther = false;

const codeOf = ({ errors }: Answer) => errors?.[0]?.extensions?.code;

/** Runs an operation of the page. A server that does not know it is sent the text, where it takes texts. */
export async function run<T>(document: Document, variables?: Variables, options?: Options): Promise<Answer<T>> {
  if (!isOther) {
    const answer = await send<T>({ documentId: document, variables }, options);
    if (codeOf(answer) !== 'DOCUMENT_NOT_FOUND') return answer;
  }
  const answer = await send<T>({ query: await textOf(document), variables }, options);
  isOther = codeOf(answer) !== 'DOCUMENT_REQUIRED';
  if (!isOther) throw newRelease();
  return answer;
}

/** Runs an operation of the page and returns its data; any error is thrown as a Problem. */
export async function ask<T>(document: Document, variables?: Variables, options?: Options): Promise<T> {
  const { data, errors } = await run<T>(document, variables, options);
  if (errors?.length) throw Problem.of(errors[0]!);
  return data as T;
}

export interface Listener<T> {
  /** The server has accepted the subscription; called again when the connection was lost and made anew. */
  connected?: () => void;
  /** The connection was lost. It is made anew. */
  lost?: () => void;
  next: (event: Answer<T>) => void;
  error: (problem: Problem) => void;
  complete: () => void;
}

/** Runs a subscription until it ends or the function returned is called. A lost connection is made anew. */
export function subscribe<T>({ variables, operationName, ...what }: Params, listener: Listener<T>): () => void {
  return subscribeShared({ ...what, variables: variables ?? undefined, operationName: operationName ?? undefined }, (event) => {
    switch (event.type) {
      case 'connected':
        return listener.connected?.();
      case 'lost':
        void check();
        void lookAgain();
        return listener.lost?.();
      case 'next':
        return listener.next(event.answer as Answer<T>);
      case 'ended':
        return event.errors ? listener.error(Problem.of(event.errors[0] as GraphError)) : listener.complete();
    }
  });
}

/** Runs a subscription of the page as subscribe does. A server that does not know it is sent the text, where it takes texts. */
export function follow<T>(document: Document, variables: Variables, listener: Listener<T>): () => void {
  let isStopped = false;
  const error = (problem: Problem) => listener.error(problem.code === 'DOCUMENT_REQUIRED' ? newRelease() : problem);
  const byText = () =>
    void textOf(document).then(
      (query) => isStopped || (stop = subscribe({ query, variables }, { ...listener, error })),
      (reason: unknown) => isStopped || listener.error(problemOf(reason)),
    );
  let stop = subscribe({ documentId: document, variables }, {
    ...listener,
    error: (problem) => (problem.code === 'DOCUMENT_NOT_FOUND' ? byText() : listener.error(problem)),
  });
  return () => {
    isStopped = true;
    stop();
  };
}
