// Subscriptions of this window, on the connection that it shares with the others.
import { sessionId } from '../session';
import { type Event, type Operation, type Reply, type Request, Stream } from './stream';

type Subscribe = (operation: Operation, listener: (event: Event) => void) => () => void;

let streamed: { session: string | null; subscribe: Subscribe } | undefined;

/** Runs a subscription on the connection of the present session. */
export const subscribeShared: Subscribe = (operation, listener) => {
  const session = sessionId();
  if (streamed?.session !== session) streamed = { session, subscribe: typeof SharedWorker === 'undefined' ? ofWindow() : ofWorker(session ?? '') };
  return streamed.subscribe(operation, listener);
};

function ofWindow(): Subscribe {
  const url = new URL('/graphql', location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  const stream = new Stream(url.href);
  return (operation, listener) => stream.subscribe(operation, listener);
}

/** The worker of another session has another name: the cookie is read when the connection begins. */
function ofWorker(session: string): Subscribe {
  const { port } = new SharedWorker(new URL('./stream.worker.ts', import.meta.url), { type: 'module', name: `simgraph ${session}` });
  const listeners = new Map<number, (event: Event) => void>();
  const send = (request: Request) => port.postMessage(request);
  let last = 0;
  port.onmessage = ({ data: { id, event } }: MessageEvent<Reply>) => {
    const listener = listeners.get(id);
    if (event.type === 'ended') listeners.delete(id);
    listener?.(event);
  };
  // The worker is not informed when a window closes.
  addEventListener('pagehide', () => send({ leave: true }));
  return (operation, listener) => {
    const id = ++last;
    listeners.set(id, listener);
    send({ id, subscribe: operation });
    return () => {
      if (listeners.delete(id)) send({ id, stop: true });
    };
  };
}
