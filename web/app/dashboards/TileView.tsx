import { useEffect, useMemo, useRef, useState } from 'react';
import { useGroupNames } from '../picker/choices';
import { Empty, Failure, Waiting } from '../shell/parts';
import { to } from '../shell/route';
import { useViewer } from '../shell/viewer';
import { type Definition, inWords, paramsOf } from '../usage/question';
import { Shown } from '../usage/Shown';
import { useAnswer } from '../usage/useAnswer';
import { type Common, type Tile, under } from './board';

interface Props {
  of: Tile;
  common: Common;
  /** Counts the readings, so that spans that run end with the hour of the last one. */
  reading: number;
  /** What is done with the tile while the dashboard is changed. */
  tools?: React.ReactNode;
  /** Takes the tile off, where that is offered. */
  remove?: () => void;
}

/** A tile: the name of its question, which leads to it, and its answer. */
export function TileView({ of, common, reading, tools, remove }: Props) {
  const asks = useMemo(() => of.definition && under(common, of.definition), [of.definition, common]);
  const groups = useGroupNames([asks?.groupId]);
  const words = asks ? inWords(asks, groups.get(String(asks.groupId))) : 'A question that is not there';
  const name = of.question?.name ?? words;
  return (
    <section className="panel tile-panel" aria-labelledby={`tile-${of.key}`}>
      <header>
        <div>
          <h2 id={`tile-${of.key}`}>{asks ? <a href={to('usage', paramsOf(asks, of.question?.questionId))}>{name}</a> : name}</h2>
          {of.question && asks && <p className="hint">{words}</p>}
        </div>
        {tools}
      </header>
      {asks ? <Answered asks={asks} label={words} reading={reading} /> : (
        <Empty>
          The question of this tile was deleted, or you do not see it. {remove && <button type="button" className="quiet" onClick={remove}>Remove the tile</button>}
        </Empty>
      )}
    </section>
  );
}

/** What of a tile is not its chart: headings, sums and notes. */
const besides = 150;

function Answered({ asks: d, label, reading }: { asks: Definition; label: string; reading: number }) {
  const { timeZone } = useViewer().company;
  const body = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(180);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setHeight(Math.max(120, Math.round(entry!.contentRect.height) - besides)));
    observer.observe(body.current!);
    return () => observer.disconnect();
  }, []);
  const { fault, span, operation, asked, result } = useAnswer(d, reading);
  return (
    <div ref={body} className="tile-body" role="group" aria-label={label} tabIndex={0} aria-busy={asked.loading}>
      {fault !== null ? <Empty>{fault}</Empty> : !operation ? <Empty>This span has not begun.</Empty> : (
        <>
          {asked.problem && <Failure problem={asked.problem} retry={asked.reload} />}
          {result === null && <Empty>There is no such {d.groupId !== null ? 'group' : d.tagName !== null ? 'tag' : 'subscriber'}, or you do not see it.</Empty>}
          {result && span && <Shown of={d} asked={span} result={result} label={label} timeZone={timeZone} height={height} />}
          {result === undefined && !asked.problem && <Waiting label="Adding up usage" />}
        </>
      )}
    </div>
  );
}
