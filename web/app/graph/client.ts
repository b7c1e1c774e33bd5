// The way to the graph: operations over POST, subscriptions over server-sent
// events. The cookie of the session goes with both.
import { createClient } from 'graphql-sse';
import { refuse, sessionId } from '../session';
import { Problem } from './problem';

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
        'Content-Type': 'application/json',
        Accept: 'application/graphql-response+json, application/json;q=0.9',
      },
      body: JSON.stringify(params),
      signal,
      keepalive,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
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
  /** The server has accepted the subscription. */
  connected?: () => void;
  next: (event: Answer<T>) => void;
  error: (problem: Problem) => void;
  complete: () => void;
}

/** Runs a subscription until it completes or the function returned is called. */
export function subscribe<T>(params: Params, listener: Listener<T>): () => void {
  const used = sessionId();
  const client = createClient({ url: new URL(endpoint, location.href).href, retryAttempts: 3, on: { connected: () => listener.connected?.() } });
  const { query, variables, operationName } = params;
  return client.subscribe<T>(
    { query, variables: variables ?? undefined, operationName: operationName ?? undefined },
    {
      next: (event) => listener.next(event as Answer<T>),
      error: (error) => {
        const status = (error as { response?: Response }).response?.status;
        if (status === 401) refuse(used);
        listener.error(new Problem('UNREACHABLE', status ? `The server answered ${status}.` : 'The connection was lost.'));
      },
      complete: () => listener.complete(),
    },
  );
}
