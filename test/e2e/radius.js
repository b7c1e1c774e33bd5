// A network element that reports sessions to the server under test by RADIUS
// accounting (RFC 2866) with the attributes of 3GPP (TS 29.061).
import { createHash, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';

const { SIMGRAPH_RADIUS, SIMGRAPH_RADIUS_SECRET } = process.env;

const attribute = (type, value) => Buffer.concat([Buffer.from([type, value.length + 2]), value]);
const text = (type, value) => attribute(type, Buffer.from(value));
const number = (type, value) => {
  const b = Buffer.alloc(4);
  b.writeUInt32BE(value);
  return attribute(type, b);
};
const threeGPP = (type, value) => attribute(26, Buffer.concat([Buffer.from([0, 0, 0x28, 0xaf]), text(type, value)]));

export const start = 1;
export const stop = 2;
export const interim = 3;

/** Sends a report of a session, and waits for the answer, which comes when it is booked. */
export async function account(status, { session, imsi, seconds, sent, address }) {
  const attributes = Buffer.concat([
    number(40, status), text(44, session), text(32, 'e2e-gateway'), number(55, Math.floor(Date.now() / 1000)), number(46, seconds),
    number(42, sent), number(43, 0), attribute(8, Buffer.from(address.split('.').map(Number))), text(30, 'iot.example'),
    ...(status === stop ? [number(49, 1)] : []), threeGPP(1, imsi), threeGPP(18, '26201'), threeGPP(20, '3569380356438090'), attribute(26, Buffer.from([0, 0, 0x28, 0xaf, 21, 3, 6])),
  ]);
  const head = Buffer.from([4, randomBytes(1)[0], 0, 0]);
  head.writeUInt16BE(20 + attributes.length, 2);
  const authenticator = createHash('md5').update(Buffer.concat([head, Buffer.alloc(16), attributes, Buffer.from(SIMGRAPH_RADIUS_SECRET)])).digest();
  await exchange(Buffer.concat([head, authenticator, attributes]));
}

/** Sends a packet until it is answered, as network elements do. */
function exchange(packet) {
  const [host, port] = SIMGRAPH_RADIUS.split(':');
  return new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    const send = () => socket.send(packet, Number(port), host);
    const again = setInterval(send, 1_000);
    const end = (error) => {
      clearInterval(again);
      clearTimeout(limit);
      socket.close();
      if (error) reject(error);
      else resolve();
    };
    const limit = setTimeout(() => end(new Error('no answer to a RADIUS packet')), 30_000);
    socket.on('message', (answer) => answer[0] === 5 && answer[1] === packet[1] && end());
    socket.on('error', end);
    send();
  });
}
