import { expect, test, vi } from 'vitest';
import { merged, readOn, titleOf } from './timeline';

const at = (hour: number) => `2026-11-25T${String(hour).padStart(2, '0')}:00:00Z`;
const list = (name: string, hours: number[], more?: () => void) => ({ rows: hours.map((hour) => ({ key: `${name}${hour}`, at: at(hour) })), more });

test('lists that were read to their end are merged, the newest first', () => {
  expect(merged([list('a', [9, 5, 1]), list('b', [7, 5])]).map(({ key }) => key)).toEqual(['a9', 'b7', 'a5', 'b5', 'a1']);
});

test('nothing is shown that is older than what a list was read to', () => {
  const lists = [list('a', [9, 6], vi.fn()), list('b', [8, 7, 3]), list('c', [5, 2], vi.fn())];
  expect(merged(lists).map(({ key }) => key)).toEqual(['a9', 'b8', 'b7', 'a6']);
});

test('the list that holds up the others is read on, and no other', () => {
  const [a, c] = [vi.fn(), vi.fn()];
  readOn([list('a', [9, 6], a), list('b', [8, 3]), list('c', [5, 2], c)])!();
  expect([a.mock.calls.length, c.mock.calls.length]).toEqual([1, 0]);
  expect(readOn([list('a', [9]), list('b', [])])).toBeNull();
});

test('a change of something else is called by its action and by what that is, and of a tag in words', () => {
  expect([titleOf('subscriber.edit', null), titleOf('alert.edit', '12'), titleOf('tag.attach', 'sold'), titleOf('tag.detach', 'sold')]).toEqual(['subscriber.edit', 'alert.edit 12', 'Tag put on: sold', 'Tag taken off: sold']);
});
