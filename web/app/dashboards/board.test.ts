import { describe, expect, it } from 'vitest';
import { definitionOf, faultOf } from '../usage/question';
import { ready } from '../usage/ready';
import { added, type Common, commonOf, commonParams, nothing, overview, put, settled, swapped, type Tile, under } from './board';

const tile = (key: string, column: number, row: number, width: number, height: number): Tile => ({ key, tileId: Number(key), column, row, width, height, question: null, definition: null });
const at = (tiles: Tile[]) => tiles.map(({ key, column, row, width, height }) => `${key}@${column}/${row} ${width}x${height}`);

describe('the grid of a dashboard', () => {
  const board = [tile('1', 0, 0, 6, 4), tile('2', 6, 0, 6, 4), tile('3', 0, 4, 12, 4)];
  it('moves tiles up as far as they go', () => {
    expect(at(settled([tile('1', 0, 7, 6, 4), tile('2', 6, 3, 6, 4), tile('3', 0, 9, 12, 4)]))).toEqual(['1@0/0 6x4', '2@6/0 6x4', '3@0/4 12x4']);
  });
  it('lets the others give way to a tile that is moved or made larger', () => {
    expect(at(put(board, '1', { column: 3 }))).toEqual(['1@3/0 6x4', '2@6/4 6x4', '3@0/8 12x4']);
    expect(at(put(board, '1', { height: 6 }))).toEqual(['1@0/0 6x6', '2@6/0 6x4', '3@0/6 12x4']);
  });
  it('keeps tiles within its columns, and no smaller than one', () => {
    expect(at(put(board, '2', { column: 99 }))[1]).toBe('2@6/0 6x4');
    expect(at(put(board, '1', { width: 0, height: 0, column: -1, row: -5 }))[0]).toBe('1@0/0 1x1');
    expect(at(put(board, '2', { width: 40 }))[1]).toMatch(/^2@0\/\d+ 12x4$/);
  });
  it('exchanges a tile with the one below or above it', () => {
    expect(at(swapped(board, '3', false))).toEqual(['1@0/4 6x4', '2@6/4 6x4', '3@0/0 12x4']);
    expect(at(swapped(board, '1', true))[0]).toBe('1@0/4 6x4');
    expect(swapped(board, '1', false)).toBe(board);
    expect(swapped(board, '3', true)).toBe(board);
  });
  it('adds a tile below', () => {
    const more = added(added(board, null, ready[0]!.definition), null, ready[1]!.definition);
    expect(at(more).slice(3)).toEqual(['new1@0/8 6x8', 'new2@0/16 6x8']);
  });
  it('has the ready overview settled already', () => expect(at(settled(overview.tiles))).toEqual(at(overview.tiles)));
});

describe('what tiles have in common', () => {
  const commons: Common[] = [
    nothing, { ...nothing, span: 'LAST_MONTH' }, { ...nothing, groupId: 7 }, { ...nothing, tagName: 'x' }, { ...nothing, physicalId: '8944' },
    { ...nothing, span: 'DAYS', firstDay: '2026-11-01', lastDay: '2026-11-03', groupId: 7 },
  ];
  it('stands in the address as a whole, also where it is nothing', () => {
    for (const common of commons) expect(commonOf(new URLSearchParams(commonParams(common)), { ...nothing, span: 'TODAY', groupId: 1 })).toEqual(common);
    expect(commonOf(new URLSearchParams('wall=1'), commons[5]!)).toEqual(commons[5]);
  });
  it('leaves every ready question one that can be asked, but for what is read record by record', () => {
    for (const common of commons) {
      for (const { definition } of [...ready, ...overview.tiles.map(({ definition }) => ({ definition: definition! }))]) expect([definition, faultOf(under(common, definition))]).toEqual([definition, null]);
    }
    expect(under(nothing, definitionOf(new URLSearchParams()))).toEqual(definitionOf(new URLSearchParams()));
  });
});
