// The one connection for events that a browser has: a WebSocket in a worker that all
// windows of a session share, or in the window where there are no shared workers.
import { type Client, createClient } from 'graphql-ws';
import { clientName } from './name';

export interface Operation {
  /** Its text, or else its id. */
  query?: string;
  documentId?: string;
  operationName?: string;
  variables?: Record<string, unknown>;
}

/** What happens to a subscription. After lost comes connected again, until it ends. */
export type Event =
  | { type: 'connected' }
  | { type: 'next'; answer: unknown }
  /** The connection was lost. It is made anew. */
  | { type: 'lost' }
  /** The subscription is over: it completed, or was refused with errors. */
  | { type: 'ended'; errors: unknown[] | null };

interface Shared {
  listeners: Set<(event: Event) => void>;
  stop: () => void;
}

const longestWait = 10_000;
const heartbeat = 10_000;

/** Whether a server that closes like this takes the connection back. */
const isFinal = (event: unknown) => [4400, 4401, 4406, 4409, 4429].includes((event as CloseEvent).code);

/** Runs subscriptions on one connection. Equal ones of several windows are one operation. */
export class Stream {
  private readonly client: Client;
  private readonly operations = new Map<string, Shared>();
  private connected = false;

  constructor(url: string, Socket: typeof WebSocket = WebSocket) {
    let unanswered: ReturnType<typeof setTimeout> | undefined;
    this.client = createClient({
      url,
      webSocketImpl: Socket,
      connectionParams: clientName,
      keepAlive: heartbeat,
      lazyCloseTimeout: 5_000,
      retryAttempts: Infinity,
      shouldRetry: (event) => !isFinal(event),
      retryWait: (tries) => waitOrOnline(Math.min(longestWait, 500 * 2 ** tries) * (0.5 + Math.random() / 2)),
      on: {
        connected: () => this.change(true),
        closed: () => {
          clearTimeout(unanswered);
          this.change(false);
        },
        ping: (received) => {
          if (!received) unanswered = setTimeout(() => this.client.terminate(), heartbeat / 2);
        },
        pong: (received) => {
          if (received) clearTimeout(unanswered);
        },
      },
    });
  }

  /** Runs a subscription until it ends or the function returned is called. */
  subscribe(operation: Operation, listener: (event: Event) => void): () => void {
    const key = JSON.stringify(operation);
    const shared = this.operations.get(key) ?? this.begin(key, operation);
    shared.listeners.add(listener);
    if (this.connected) listener({ type: 'connected' });
    return () => {
      shared.listeners.delete(listener);
      if (shared.listeners.size > 0 || this.operations.get(key) !== shared) return;
      this.operations.delete(key);
      shared.stop();
    };
  }

  private begin(key: string, operation: Operation): Shared {
    const listeners: Shared['listeners'] = new Set();
    const send = (event: Event) => listeners.forEach((listener) => listener(event));
    const end = (errors: unknown[] | null) => {
      this.operations.delete(key);
      send({ type: 'ended', errors });
    };
    const shared = { listeners, stop: () => undefined as void };
    this.operations.set(key, shared);
    // The client sends nothing without a text, and the server takes an empty one beside an id.
    shared.stop = this.client.subscribe({ query: '', ...operation }, {
      next: (answer) => send({ type: 'next', answer }),
      error: (error) => end(Array.isArray(error) ? error : [{ message: 'The connection was refused.' }]),
      complete: () => this.operations.get(key) === shared && end(null),
    });
    return shared;
  }

  private change(connected: boolean) {
    if (this.connected === connected) return;
    this.connected = connected;
    for (const { listeners } of this.operations.values()) listeners.forEach((listener) => listener({ type: connected ? 'connected' : 'lost' }));
  }
}

/** Waits; no longer than until the browser is online again. */
const waitOrOnline = (milliseconds: number) =>
  new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    addEventListener('online', done);
  });

/** What a window asks of the worker, and what the worker answers. */
export type Request = { id: number; subscribe: Operation } | { id: number; stop: true } | { leave: true };
export type Reply = { id: number; event: Event };
