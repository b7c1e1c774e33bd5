// Companies of their own for tests, made by the program, and their answers.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { base } from './browser.js';

const program = fileURLToPath(new URL('../../simgraph', import.meta.url));
export const run = (args, input = '') => execFileSync(program, args, { encoding: 'utf8', input, stdio: ['pipe', 'pipe', 'ignore'] }).trim();

/** The answer to an operation for another user than that of the tests. */
export async function askAs(token, query, variables = {}) {
  const response = await fetch(`${base}/graphql`, { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body: JSON.stringify({ query, variables }) });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message);
  return data;
}

/** A company in a zone with usage of an hour each around a change of clocks, and the token of its administrator. */
export function companyIn(timeZone, name, from, hours) {
  const lines = [
    { type: 'company', id: name, name, billingDay: 1, timeZone }, { type: 'operator', code: '23415', name: 'Vodafone UK' }, { type: 'tariff', company: name, name: 'IoT 50', lineRental: 150, currency: 'GBP' },
    ...[1, 2].map((id) => ({ type: 'group', company: name, id, name: `Group ${id}`, hideTariffDetails: false })),
    { type: 'user', company: name, email: `ops@${name}.example`, permissions: ['View Statistics Overview', 'View Subscriber', "View a User's Details"], groups: [] },
    { type: 'user', company: name, email: `two@${name}.example`, permissions: ['View Statistics Overview', 'View Subscriber'], groups: [2] },
    ...[1, 2].map((id) => ({
      type: 'subscriber', company: name, kind: 'cellular', physicalId: `${name}-${id}`, subscriberId: `44700000${name.length}${id}`, imsi: '', nickname: `${name} ${id}`, operatorCode: '23415', tariffName: 'IoT 50',
      connectionDate: '2024-01-01T00:00:00Z', expiryDate: '2030-01-01T00:00:00Z', contractLength: 36, isBarred: false, isActive: true, groupId: id, subscriberType: 'physical', networkState: { isTransferring: false, isOnline: true },
    })),
    ...Array.from({ length: hours }, (_, i) => {
      const at = new Date(Date.parse(from) + i * 3_600_000 + 60_000).toISOString();
      return { type: 'usage', company: name, source: 'e2e', recordId: `r-${i}`, physicalId: `${name}-${1 + (i % 2)}`, sessionId: '', sequence: 0, startedAt: at, endedAt: at, mobileOriginated: 1000 + i, mobileTerminated: 0, protocol: 'TCP', ipAddress: '10.0.0.1' };
    }),
  ];
  run(['import', '-'], lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return run(['token', '--user', `ops@${name}.example`]);
}
