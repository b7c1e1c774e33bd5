import { createClient } from 'graphql-sse';
import type { TypedDocumentString } from './generated.js';

export * from './generated.js';

/** How a Client reaches the server. */
export interface Config {
  /** The address of the server, such as https://sim.example. */
  url: string;
  /** An access key. It is exchanged for tokens, which are replaced before they end. */
  key?: string;
  secret?: string;
  /** An access token, in place of a key. */
  token?: string;
}

/** An error of an answer; path names the field that failed. */
export interface FieldError {
  readonly message: string;
  readonly path?: ReadonlyArray<string | number>;
  readonly extensions?: Record<string, unknown>;
}

/** An answer. Fields that failed are null in data, and errors name them. */
export interface Answer<Result> {
  data: Result;
  errors: readonly FieldError[];
}

/** An answer without data, or one of a list that is not whole. */
export class GraphError extends Error {
  constructor(message: string, readonly errors: readonly FieldError[] = []) {
    super(message);
    this.name = 'GraphError';
  }
}

/** The items of the list that an operation reads. */
export type Item<Result> = NonNullable<Result[keyof Result]> extends { nodes: ReadonlyArray<infer Node> } ? Node : never;

/** A page of a list. */
interface Page {
  nodes: unknown[];
  pageInfo: { hasNextPage: boolean; endCursor?: string | null };
}

type Given<Variables> = Record<string, never> extends Variables ? [variables?: Variables, options?: Options] : [variables: Variables, options?: Options];

/** Ends a request before its answer. */
export interface Options {
  signal?: AbortSignal;
}

/** How often a request is sent that the server puts off. */
const attempts = 5;
/** The longest time in seconds that a request is put off, and that an answer may take. A token is replaced as long before its end. */
const minute = 60;
/** How many items a page has: the most that the server answers. */
const size = 100;

/** Sends operations. */
export class Client {
  readonly #config: Config;
  readonly #url: string;
  #granted?: Promise<string>;
  #replaceAt = Infinity;

  /** Makes a client. It sends nothing yet. */
  constructor(config: Config) {
    this.#config = config;
    this.#url = config.url.replace(/\/+$/, '');
  }

  /** Runs a query or a mutation. Rejects with a GraphError when there is no data. */
  async run<Result, Variables>(document: TypedDocumentString<Result, Variables>, ...[variables, options]: Given<Variables>): Promise<Answer<Result>> {
    const body = JSON.stringify({ query: document.toString(), variables });
    const headers = { accept: 'application/graphql-response+json', 'content-type': 'application/json' };
    const response = await this.#authorized({ method: 'POST', headers, body, signal: options?.signal }, minute);
    const answer: { data?: Result | null; errors?: FieldError[] } | null = await response.json().catch(() => null);
    const errors = answer?.errors ?? [];
    if (!answer?.data) throw new GraphError(errors[0]?.message ?? `the server answered ${response.status}`, errors);
    return { data: answer.data, errors };
  }

  /** The items of all pages of the one list that an operation reads with $first and $after. A page is read when it is needed. */
  async *list<Result, Variables extends { first?: number | null; after?: string | null }>(
    document: TypedDocumentString<Result, Variables>, variables?: Omit<Variables, 'first' | 'after'>, options?: Options,
  ): AsyncGenerator<Item<Result>, void, undefined> {
    for (let after: string | null | undefined; ;) {
      const given = [{ ...variables, first: size, after } as unknown as Variables, options] as unknown as Given<Variables>;
      const { data, errors } = await this.run(document, ...given);
      if (errors[0]) throw new GraphError(errors[0].message, errors);
      const [page] = Object.values(data as Record<string, Page>);
      yield* page.nodes as Item<Result>[];
      after = page.pageInfo.endCursor;
      if (!page.pageInfo.hasNextPage || !after) return;
    }
  }

  /** The events of a subscription, until the loop over them ends. Events between two connections are not repeated. */
  async *watch<Result, Variables>(document: TypedDocumentString<Result, Variables>, ...[variables, options]: Given<Variables>): AsyncGenerator<Answer<Result>, void, undefined> {
    const signal = options?.signal;
    signal?.throwIfAborted();
    const client = createClient({ url: `${this.#url}/graphql`, fetchFn: (_: string, init: RequestInit) => this.#authorized(init) });
    const end = () => client.dispose();
    signal?.addEventListener('abort', end);
    try {
      for await (const { data, errors } of client.iterate<Result>({ query: document.toString(), variables: variables as Record<string, unknown> })) {
        if (!data) throw new GraphError(errors?.[0]?.message ?? 'an event without data', errors);
        yield { data, errors: errors ?? [] };
      }
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener('abort', end);
      end();
    }
  }

  /** Sends to the graph with a token, and with another when that is refused. */
  async #authorized(init: RequestInit, seconds?: number): Promise<Response> {
    for (let renewed = false; ; renewed = true) {
      const granted = this.#config.token === undefined ? this.#currentToken() : undefined;
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${granted ? await granted : this.#config.token}`);
      const response = await patient(`${this.#url}/graphql`, { ...init, headers }, seconds);
      if (response.status !== 401 || renewed || !granted) return response;
      await response.body?.cancel();
      if (this.#granted === granted) this.#granted = undefined;
    }
  }

  /** The token that the key is exchanged for. One exchange serves all who wait for it. */
  #currentToken(): Promise<string> {
    if (!this.#granted || Date.now() >= this.#replaceAt) {
      const granted = this.#exchange();
      this.#granted = granted;
      this.#replaceAt = Infinity;
      granted.catch(() => {
        if (this.#granted === granted) this.#granted = undefined;
      });
    }
    return this.#granted;
  }

  async #exchange(): Promise<string> {
    const basic = btoa(`${this.#config.key}:${this.#config.secret}`);
    const response = await patient(`${this.#url}/oauth/token`, {
      method: 'POST', headers: { authorization: `Basic ${basic}` }, body: new URLSearchParams({ grant_type: 'client_credentials' }),
    }, minute);
    const answer: { access_token?: string; expires_in?: number; error?: string } | null = await response.json().catch(() => null);
    if (!answer?.access_token) throw new GraphError(`the access key was exchanged for no token: ${response.status} ${answer?.error ?? ''}`);
    this.#replaceAt = Date.now() + ((answer.expires_in ?? 0) - minute) * 1000;
    return answer.access_token;
  }
}

/** Sends a request, and again as long as the server puts it off: it does so before anything has run, so mutations are sent again, too. */
async function patient(url: string, init: RequestInit, seconds?: number): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const signals = [init.signal, seconds && AbortSignal.timeout(seconds * 1000)].filter((one): one is AbortSignal => one instanceof AbortSignal);
    const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    const after = /^\d+$/.exec(response.headers.get('retry-after') ?? '');
    if (!after || Number(after[0]) > minute || attempt === attempts) return response;
    await response.body?.cancel();
    await wait(Number(after[0]), init.signal);
  }
}

function wait(seconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, seconds * 1000);
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end, { once: true });
  });
}
