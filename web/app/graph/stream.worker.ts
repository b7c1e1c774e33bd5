import { type Operation, type Reply, type Request, Stream } from './stream';

const url = new URL('/graphql', location.href);
url.protocol = url.protocol.replace('http', 'ws');
const stream = new Stream(url.href);

/** Serves the subscriptions of a window until it leaves. */
function serve(port: MessagePort) {
  const running = new Map<number, () => void>();
  const begin = (id: number, operation: Operation) =>
    running.set(id, stream.subscribe(operation, (event) => {
      if (event.type === 'ended') running.delete(id);
      port.postMessage({ id, event } satisfies Reply);
    }));
  const stop = (id: number) => {
    running.get(id)?.();
    running.delete(id);
  };
  port.onmessage = ({ data }: MessageEvent<Request>) => {
    if ('subscribe' in data) begin(data.id, data.subscribe);
    else if ('stop' in data) stop(data.id);
    else [...running.keys()].forEach(stop);
  };
}

addEventListener('connect', (event) => serve((event as MessageEvent).ports[0]!));
