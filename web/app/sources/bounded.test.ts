import { expect, test } from 'vitest';
import { bounded } from './bounded';

test('a span of 31 days is read whole, and of a longer one its end', () => {
  const to = '2026-12-01T00:00:00Z';
  expect(bounded({ from: '2026-10-31T00:00:00Z', to })).toEqual({ from: '2026-10-31T00:00:00Z', to, isCut: false });
  expect(bounded({ from: '2026-10-30T23:00:00Z', to })).toEqual({ from: '2026-10-31T00:00:00Z', to, isCut: true });
});
