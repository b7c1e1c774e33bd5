import GridLayout, { type LayoutItem, useContainerWidth } from 'react-grid-layout';
import 'react-grid-layout/css/styles.css';
import type { ReactNode } from 'react';
import { columns, type Place, type Tile } from './board';

const rowHeight = 34;
const gap = 14;
/** Below this width the tiles stand below each other. */
const narrow = 720;

interface Props {
  tiles: Tile[];
  /** Called when a tile was dragged or pulled to another size; null where the dashboard is not changed. */
  place: ((places: Map<string, Place>) => void) | null;
  children: (tile: Tile) => ReactNode;
}

/** The tiles on a grid, where there is room; else below each other, in the order of their rows. */
export default function Grid({ tiles, place, children }: Props) {
  const { width, containerRef, mounted } = useContainerWidth();
  const inOrder = [...tiles].sort((a, b) => a.row - b.row || a.column - b.column);
  const done = (layout: readonly LayoutItem[]) => place?.(new Map(layout.map(({ i, x, y, w, h }) => [i, { column: x, row: y, width: w, height: h }])));
  return (
    <div ref={containerRef} className="board">
      {mounted && (width < narrow ? (
        <div className="stack">{inOrder.map((tile) => <div key={tile.key} className="stacked-tile">{children(tile)}</div>)}</div>
      ) : (
        <GridLayout
          width={width}
          layout={inOrder.map(({ key, column, row, width, height }) => ({ i: key, x: column, y: row, w: width, h: height, minH: 3, minW: 2 }))}
          gridConfig={{ cols: columns, rowHeight, margin: [gap, gap], containerPadding: [0, 0] }}
          dragConfig={{ enabled: place !== null, handle: '.tile-panel > header', cancel: 'a, button, input, .pop' }}
          resizeConfig={{ enabled: place !== null }}
          onDragStop={done}
          onResizeStop={done}
        >
          {inOrder.map((tile) => <div key={tile.key}>{children(tile)}</div>)}
        </GridLayout>
      ))}
    </div>
  );
}
