// A dashboard: where its tiles stand, what they ask, and how its address says what they have
// in common. The server holds the same rules for dashboards that are kept.
import { changedTo, type Definition, definitionOf, paramsOf } from '../usage/question';
import type { Kept, TileInput } from './kept';

/** What takes the place of the span and the subject of every tile; what is null does not. */
export interface Common {
  span: Definition['span'] | null;
  firstDay: string | null;
  lastDay: string | null;
  groupId: number | null;
  tagName: string | null;
  physicalId: string | null;
}

export interface Place {
  column: number;
  row: number;
  width: number;
  height: number;
}

export interface Tile extends Place {
  /** Unique on the page. */
  key: string;
  /** Null for a tile that is not saved yet. */
  tileId: number | null;
  /** The question that it shows, where that is a kept one. */
  question: { questionId: string; name: string; isShared: boolean } | null;
  /** What it asks; null where that is gone or not seen. */
  definition: Definition | null;
}

export interface Board {
  name: string;
  description: string;
  folder: string;
  isShared: boolean;
  refreshMinutes: number;
  tiles: Tile[];
}

export const columns = 12;
export const mostTiles = 24;
const mostHeight = 24;

export const nothing: Common = { span: null, firstDay: null, lastDay: null, groupId: null, tagName: null, physicalId: null };

export const boardOf = (of: Kept): Board => ({
  name: of.name, description: of.description ?? '', folder: of.folder ?? '', isShared: of.isShared, refreshMinutes: of.refreshMinutes,
  tiles: of.tiles.map(({ tileId, column, row, width, height, question, definition }) => ({
    key: String(tileId), tileId, column, row, width, height, question: question && { questionId: question.questionId, name: question.name, isShared: question.isShared }, definition: question?.definition ?? definition,
  })),
});

/** What a tile asks under what is common. */
export function under({ span, firstDay, lastDay, groupId, tagName, physicalId }: Common, of: Definition): Definition {
  const whose = groupId !== null || tagName !== null || physicalId !== null;
  return changedTo(of, { ...(span && { span, firstDay, lastDay }), ...(whose && { groupId, tagName, physicalId }) });
}

const names = ['span', 'firstDay', 'lastDay', 'group', 'tag', 'subscriber', 'common'];

/** What the address has in common, or else what is saved. */
export function commonOf(params: URLSearchParams, saved: Common): Common {
  if (!names.some((name) => params.has(name))) return saved;
  const withSpan = new URLSearchParams([...params, ['span', 'TODAY']]);
  const { firstDay, lastDay, groupId, tagName, physicalId } = definitionOf(withSpan);
  const span = params.has('span') ? definitionOf(params).span : null;
  return { span, firstDay: span === 'DAYS' ? firstDay : null, lastDay: span === 'DAYS' ? lastDay : null, groupId, tagName, physicalId };
}

/** The address of what is common. It says so, too, where nothing is. */
export function commonParams(common: Common): Record<string, string> {
  const { span, firstDay, lastDay, group, tag, subscriber } = paramsOf({ ...first, ...common, span: common.span ?? 'TODAY' });
  const all = { span: common.span ? span : undefined, firstDay, lastDay, group, tag, subscriber };
  const said = Object.fromEntries(Object.entries(all).filter((one): one is [string, string] => Boolean(one[1])));
  return Object.keys(said).length > 0 ? said : { common: 'none' };
}

const first = definitionOf(new URLSearchParams());

export const sameCommon = (a: Common, b: Common): boolean => JSON.stringify(commonParams(a)) === JSON.stringify(commonParams(b));

/** Why what is common cannot be asked; null where it can. */
export function commonFault({ span, firstDay, lastDay }: Common): string | null {
  if (span !== 'DAYS') return null;
  if (!firstDay || !lastDay) return 'Choose the first and the last day.';
  return lastDay < firstDay ? 'The last day is before the first.' : null;
}

/** What of a tile is sent. One that is there goes on to show what it does. */
export const tileInput = ({ tileId, column, row, width, height, question, definition }: Tile): TileInput => ({
  column, row, width, height, ...(tileId !== null ? { tileId } : question ? { questionId: question.questionId } : { definition: definition! }),
});

const overlap = (a: Place, b: Place) => a.column < b.column + b.width && b.column < a.column + a.width && a.row < b.row + b.height && b.row < a.row + a.height;

/** The tiles moved up as far as they go, in the order of their rows; the first of them, where it is named, keeps its place. */
export function settled(tiles: Tile[], moved?: string): Tile[] {
  const placed: Tile[] = [];
  const order = [...tiles].sort((a, b) => a.row - b.row || Number(b.key === moved) - Number(a.key === moved) || a.column - b.column);
  for (const tile of order) {
    let row = tile.row;
    const fits = (at: number) => !placed.some((other) => overlap({ ...tile, row: at }, other));
    while (!fits(row)) row++;
    while (row > 0 && fits(row - 1)) row--;
    placed.push({ ...tile, row });
  }
  return tiles.map(({ key }) => placed.find((one) => one.key === key)!);
}

const clamp = (value: number, least: number, most: number) => Math.min(Math.max(value, least), most);

/** The tiles with one at another place or of another size; the others give way. */
export function put(tiles: Tile[], key: string, change: Partial<Place>): Tile[] {
  return settled(tiles.map((tile) => {
    if (tile.key !== key) return tile;
    const wanted = { ...tile, ...change };
    const width = clamp(wanted.width, 1, columns);
    return { ...wanted, width, column: clamp(wanted.column, 0, columns - width), row: Math.max(wanted.row, 0), height: clamp(wanted.height, 1, mostHeight) };
  }), key);
}

/** The tile with the one below or above it in its place. */
export function swapped(tiles: Tile[], key: string, down: boolean): Tile[] {
  const tile = tiles.find((one) => one.key === key)!;
  const beside = tiles.filter((other) => other.key !== key && other.column < tile.column + tile.width && tile.column < other.column + other.width);
  if (!down) {
    const above = beside.filter(({ row }) => row < tile.row).sort((a, b) => b.row - a.row)[0];
    return above ? put(tiles, key, { row: above.row }) : tiles;
  }
  const below = beside.filter(({ row }) => row > tile.row).sort((a, b) => a.row - b.row)[0];
  return below ? put(tiles, below.key, { row: tile.row }) : tiles;
}

/** The tiles with another one below them. */
export function added(tiles: Tile[], question: Tile['question'], definition: Definition): Tile[] {
  const number = 1 + tiles.reduce((most, { key }) => Math.max(most, key.startsWith('new') ? Number(key.slice(3)) : 0), 0);
  const row = tiles.reduce((most, tile) => Math.max(most, tile.row + tile.height), 0);
  const size = definition.chart === 'NUMBER' ? { width: 3, height: 4 } : { width: 6, height: 8 };
  return settled([...tiles, { key: `new${number}`, tileId: null, column: 0, row, ...size, question, definition }]);
}

const all = { measure: 'TOTAL', interval: 'DAY', split: null, span: 'THIS_PERIOD', firstDay: null, lastDay: null, compare: null, groupId: null, tagName: null, physicalId: null } as const;

/** The overview, as a dashboard that everybody has. It is copied before it is changed. */
export const overview: Board = {
  name: 'Overview', description: 'The usage of this billing period', folder: '', isShared: false, refreshMinutes: 0,
  tiles: ([
    [{ column: 0, row: 0, width: 3, height: 4 }, { ...all, chart: 'NUMBER', compare: 'BEFORE' }],
    [{ column: 3, row: 0, width: 3, height: 4 }, { ...all, chart: 'NUMBER', measure: 'MOBILE_TERMINATED', compare: 'BEFORE' }],
    [{ column: 6, row: 0, width: 3, height: 4 }, { ...all, chart: 'NUMBER', measure: 'MOBILE_ORIGINATED', compare: 'BEFORE' }],
    [{ column: 9, row: 0, width: 3, height: 4 }, { ...all, chart: 'NUMBER', measure: 'SESSIONS', compare: 'BEFORE' }],
    [{ column: 0, row: 4, width: 12, height: 9 }, { ...all, chart: 'BARS', compare: 'BEFORE' }],
    [{ column: 0, row: 13, width: 6, height: 9 }, { ...all, chart: 'TOP', split: 'SUBSCRIBER' }],
    [{ column: 6, row: 13, width: 6, height: 9 }, { ...all, chart: 'RISERS', split: 'SUBSCRIBER', compare: 'BEFORE' }],
    [{ column: 0, row: 22, width: 6, height: 9 }, { ...all, chart: 'STACKED', split: 'GROUP' }],
    [{ column: 6, row: 22, width: 6, height: 9 }, { ...all, chart: 'TOP', split: 'TAG' }],
  ] as [Place, Definition][]).map(([place, definition], i) => ({ ...place, key: `ready${i}`, tileId: null, question: null, definition })),
};

/** The name of the overview in addresses. */
export const overviewId = 'overview';
