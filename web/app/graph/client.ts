// The way to the graph: operations over POST, subscriptions over the WebSocket that
// all windows share. The cookie of the session goes with both.
import { lookAgain, refuse, sessionId } from '../session';
import { clientName } from './name';
import { Problem } from './problem';
import { check, noteUnreachable } from './reach';
import { subscribeShared } from './shared';

export interface Params {
  query: string;
  operationName?: string | null;
  variables?: Record<string, unknown> | null;
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
export async function send<T>(params: Params, { signal, keepalive }: { signal?: AbortSignal; keepalive?: boolean } = {}): Promise<Answer<T>> {
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

/** Sends an operation and returns its data; any error is thrown as a Problem. */
export async function ask<T>(query: string, variables?: Record<string, unknown>, options?: { keepalive?: boolean }): Promise<T> {
  const { data, errors } = await send<T>({ query, variables }, options);
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
export function subscribe<T>({ query, variables, operationName }: Params, listener: Listener<T>): () => void {
  return subscribeShared({ query, variables: variables ?? undefined, operationName: operationName ?? undefined }, (event) => {
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
