import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Problem } from './problem';
import { changedOf, hasMade, type MadeFrom, type Take, textOf, useMadeFrom, wordsOf } from './stale';

interface Group {
  version: string;
  name: string;
  hides: boolean;
}

/** What a form of the group has from the hook. */
function form(of: Group, read: () => Promise<Group | null>, take: Take<Group>): MadeFrom {
  let made: MadeFrom | undefined;
  const Form = () => {
    made = useMadeFrom(of, read, take);
    return null;
  };
  renderToString(createElement(Form));
  return made!;
}

/** A server whose group has a version that an edit must name. */
function server(group: Group) {
  const sent: string[] = [];
  const edit = async (version: string) => {
    sent.push(version);
    if (version !== group.version) throw new Problem('STALE', 'it was changed');
    return 'saved';
  };
  return { sent, edit, read: async () => ({ ...group }) };
}

test('an edit of what nobody has changed is sent once', async () => {
  const { sent, edit, read } = server({ version: '1', name: 'a', hides: false });
  expect(await form({ version: '1', name: 'a', hides: false }, read, { name: () => {} }).send(edit)).toBe('saved');
  expect(sent).toEqual(['1']);
});

test('what somebody else has changed is said, taken over, or replaced by the next edit', async () => {
  const { sent, edit, read } = server({ version: '2', name: 'theirs', hides: false });
  let name = 'mine';
  const made = form({ version: '1', name: 'a', hides: false }, read, { name: (theirs, whole) => { name = `${theirs} of ${whole.version}`; }, hides: () => { name = 'not changed'; } });
  await expect(made.send(edit)).rejects.toThrow('“name” from a to theirs');
  made.takeTheirs();
  expect(name).toBe('theirs of 2');
  expect(await made.send(edit)).toBe('saved');
  expect(sent).toEqual(['1', '2']);
});

test('an edit of other fields than those that were changed is sent again', async () => {
  const { sent, edit, read } = server({ version: '2', name: 'theirs', hides: false });
  expect(await form({ version: '1', name: 'a', hides: false }, read, { name: () => {}, hides: () => {} }).send(edit, ['hides'])).toBe('saved');
  expect(sent).toEqual(['1', '2']);
});

test('an edit is not sent for ever, and one of what is gone says so', async () => {
  let tries = 0;
  const stale = async () => {
    tries++;
    throw new Problem('STALE', 'it was changed');
  };
  const of = { version: '1', name: 'a', hides: false };
  await expect(form(of, async () => of, { name: () => {} }).send(stale)).rejects.toThrow('it was changed');
  expect(tries).toBe(5);
  await expect(form(of, async () => null, { name: () => {} }).send(stale)).rejects.toThrow('not there any more');
});

test('only what is read again is compared, lists and objects by their values', () => {
  const shown = { name: 'a', groups: [{ groupId: 1 }], other: 1 };
  expect(changedOf(shown, { name: 'a', groups: [{ groupId: 1 }] })).toEqual([]);
  expect(changedOf(shown, { name: 'b', groups: [{ groupId: 2 }] })).toEqual(['name', 'groups']);
  expect(changedOf(shown, { name: 'b', groups: [{ groupId: 2 }] }, ['name', 'zone'])).toEqual(['name']);
});

test('values are said in words', () => {
  expect(wordsOf('isTariffHidden')).toBe('tariff hidden');
  expect([textOf(''), textOf(null), textOf([]), textOf(true), textOf('a'), textOf({ nodes: [{ name: 'Vans' }, { name: 'Meters' }] })]).toEqual(['none', 'none', 'none', 'yes', 'a', 'Vans, Meters']);
});

test('a moment is said as people write it in the zone, and a day as a day', () => {
  expect(textOf('2026-10-31T23:00:00Z', 'Europe/Berlin')).toBe('1 Nov 2026');
  expect(textOf('2026-11-01T00:00:00+01:00', 'Europe/Berlin')).toBe('1 Nov 2026');
  expect(textOf('2026-11-01T09:30:00Z', 'Europe/Berlin')).toBe('1 Nov 2026, 10:30');
  expect(textOf('2026-11-01 is a name')).toBe('2026-11-01 is a name');
});

test('the entry that made a value is known by it, however the audit log writes it', () => {
  const entry = (field: string, after: string | null, action = 'subscriber.edit') => ({ action, changes: [{ field, after }] });
  const made: [string, string | null, unknown][] = [
    ['expiryDate', '2030-01-01T00:00:00Z', '2030-01-01T01:00:00+01:00'], ['kind', 'non-ip', 'NON_IP'], ['contractLength', '7', 7], ['tariffName', null, null], ['disabled', 'true', true],
    ['permissions', "View a User's Details, View Subscriber", ['VIEW_SUBSCRIBER', 'VIEW_A_USERS_DETAILS']], ['physicalIds', '', []], ['text', 'A long te…', 'A long text'], ['lowerThreshold', '1000', '1000'],
  ];
  for (const [field, after, value] of made) expect([field, hasMade(entry(field, after), { [field === 'disabled' ? 'isDisabled' : field]: value }, true)]).toEqual([field, true]);
  expect(hasMade(entry('expiryDate', '2029-01-01T00:00:00Z'), { expiryDate: '2030-01-01T00:00:00Z' }, false)).toBe(false);
  expect(hasMade(entry('nickname', 'a'), { expiryDate: '2030-01-01T00:00:00Z' }, true)).toBe(false);
});

test('an edit whose values cannot be compared is taken for the one, but not of what is also changed otherwise', () => {
  const entry = { action: 'user.edit', changes: [{ field: 'groups', after: '3' }] };
  const now = { groups: { nodes: [{ groupId: 3, name: 'Vans' }] } };
  expect([hasMade(entry, now, false), hasMade(entry, now, true), hasMade({ ...entry, action: 'user.invite' }, now, false)]).toEqual([true, false, false]);
});
