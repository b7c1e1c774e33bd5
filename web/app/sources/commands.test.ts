import { expect, test } from 'vitest';
import { isFolderName, isNetwork, postCommand, quoted, radiusCommand, streamCommand } from './commands';

test('words of commands are quoted where a shell would read more into them', () => {
  expect(quoted('records.json')).toBe('records.json');
  expect(quoted('a b')).toBe("'a b'");
  expect(quoted("it's $HOME")).toBe(String.raw`'it'\''s $HOME'`);
  expect(quoted('')).toBe("''");
  expect(radiusCommand('acme; rm', 'gw', '10.0.0.0/8')).toBe("simgraph radius client add gw --network 10.0.0.0/8 --company 'acme; rm'");
});

test('a sender is shown with its own authentication', () => {
  const sender = { address: 'https://sim.example/sources/src_1/records', signatureHeader: 'X-Signature', secret: 's3', file: 'records.json' };
  expect(postCommand({ ...sender, authentication: 'BASIC' })).toBe('curl -u any:s3 --data-binary @records.json https://sim.example/sources/src_1/records');
  expect(postCommand({ ...sender, authentication: 'BEARER' })).toContain("-H 'Authorization: Bearer s3'");
  expect(postCommand({ ...sender, authentication: 'SIGNATURE' })).toContain('-H "X-Signature: $(openssl dgst -sha256 -hmac s3 records.json');
});

test('names of sources are encoded in addresses', () => {
  expect(streamCommand('https://sim.example', 'a&b', 'x.csv')).toContain("'https://sim.example/usage/records?source=a%26b'");
});

test('a folder has no name that leads elsewhere', () => {
  expect(['carrier', '1nce eu'].every(isFolderName)).toBe(true);
  expect(['..', '.hidden', 'a/b'].some(isFolderName)).toBe(false);
});

test('networks are addresses, or written in CIDR', () => {
  for (const network of ['10.1.0.0/16', '10.1.0.5', '2001:db8::/32', '::1']) expect(isNetwork(network)).toBe(true);
  for (const text of ['', '10.1.0', '10.1.0.300', '10.1.0.0/33', 'gateway', '10.1.0.0/16 ; rm', '::1/129']) expect(isNetwork(text)).toBe(false);
});
