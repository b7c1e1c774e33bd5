import { describe, expect, test } from 'vitest';
import { ago, atWallClock, dateOf, daysBetween, startOfDay, wallClock } from './time';

const zones = ['Europe/Berlin', 'America/St_Johns', 'Pacific/Auckland', 'Pacific/Apia', 'UTC'];

describe.each(zones)('in %s', (zone) => {
  test('a day starts at midnight of the zone, also where clocks change', () => {
    for (let at = Date.UTC(2026, 0, 1, 12); at < Date.UTC(2027, 0, 1); at += 86_400_000) {
      const start = startOfDay(at, zone);
      expect(wallClock(start, zone)).toBe(`${dateOf(at, zone)}T00:00`);
      expect(dateOf(start - 1, zone)).not.toBe(dateOf(at, zone));
    }
  });

  test('what the clocks show leads back to the same instant', () => {
    for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += 11 * 3_600_000) {
      const shown = wallClock(at, zone);
      expect(wallClock(atWallClock(shown, zone), zone)).toBe(shown);
    }
  });

  test('a billing period of a month has as many days as the month', () => {
    const from = startOfDay(Date.UTC(2026, 9, 15, 12), zone, { date: 1 });
    expect(daysBetween(from, startOfDay(from, zone, { months: 1, date: 1 }), zone)).toBe(31);
  });
});

test('what is no time is none', () => expect(atWallClock('soon', 'UTC')).toBeNaN());

test('a distance is written in its largest whole unit', () => {
  const now = Date.UTC(2026, 10, 25);
  expect(ago(new Date(now - 3 * 3_600_000), now)).toBe('3 hours ago');
  expect(ago(new Date(now - 86_400_000), now)).toBe('yesterday');
  expect(ago(new Date(now), now)).toBe('now');
});
