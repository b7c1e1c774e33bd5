// A mail server that keeps what it takes.
import { createServer } from 'node:net';

/** Opens a mail server on a free port. */
export async function openMailbox() {
  const mails = [];
  const server = createServer((socket) => {
    let text = '';
    let data = false;
    const say = (line) => socket.write(`${line}\r\n`);
    say('220 mx.test');
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      text += chunk;
      for (let end; (end = text.indexOf(data ? '\r\n.\r\n' : '\r\n')) >= 0;) {
        const part = text.slice(0, end);
        text = text.slice(end + (data ? 5 : 2));
        if (data) mails.push(part.replaceAll('\r\n..', '\r\n.'));
        const [verb] = part.toUpperCase().split(' ');
        say(data ? '250 taken' : verb === 'DATA' ? '354 go on' : verb === 'QUIT' ? '221 bye' : '250 ok');
        data = !data && verb === 'DATA';
      }
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${server.address().port}?starttls=never`,
    mails,
    /** Waits for the n-th mail, from 1, and returns it with its line breaks undone. */
    async nth(n) {
      for (const until = Date.now() + 60_000; mails.length < n; await new Promise((resolve) => setTimeout(resolve, 100))) {
        if (Date.now() > until) throw new Error(`${mails.length} mails have come, not ${n}`);
      }
      return mails[n - 1].replaceAll('=\r\n', '').replaceAll('=3D', '=');
    },
    close: () => server.close(),
  };
}
