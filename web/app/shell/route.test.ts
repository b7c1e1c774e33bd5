import { expect, test } from 'vitest';
import { changed, to, toSubscriber } from './route';

test('identifiers are encoded in addresses', () => {
  expect(toSubscriber('a/b?c')).toBe('#/subscribers/a%2Fb%3Fc');
  expect(to('alertLog', { subject: 'x y' })).toBe('#/alerts/log?subject=x+y');
});

test('another filter begins a list anew', () => {
  const params = new URLSearchParams('after=c1&from=100&state=online&tag=a&tag=b');
  expect(changed(params, { state: 'barred' }).toString()).toBe('tag=a&tag=b&state=barred');
  expect(changed(params, { tag: ['c', 'd'], state: null }).toString()).toBe('tag=c&tag=d');
});
