import { expect, test } from 'vitest';
import { bytes, change, parseBytes } from './units';

test('bytes have three significant digits in the unit that fits', () => {
  expect(bytes(0)).toBe('0\u00a0B');
  expect(bytes(999.6)).toBe('1\u00a0kB');
  expect(bytes('1234567')).toBe('1.23\u00a0MB');
  expect(bytes(1536, 'IEC')).toBe('1.5\u00a0KiB');
});

test('volumes are read exactly, in both systems', () => {
  expect(parseBytes('500 MB')).toBe('500000000');
  expect(parseBytes('1,5 GiB')).toBe('1610612736');
  expect(parseBytes('9223372036854775807')).toBe('9223372036854775807');
  for (const text of ['', 'MB', '-1', '1e3', '5 XB', '1.2.3']) expect(parseBytes(text)).toBeNull();
});

test('a change of nothing is not a share', () => {
  expect(change(5, 0)).toBeNull();
  expect(change(112, 100)).toBe('+12\u00a0%');
  expect(change(50, 100)).toBe('−50\u00a0%');
});
