import { type ComponentProps, Suspense, useState } from 'react';
import { type Mark, Plot } from '../chart/Plot';
import { part } from '../shell/part';
import { useMay } from '../shell/viewer';
import type { About } from './note';

const Annotations = part(() => import('./Annotations'));
const NoteForm = part(() => import('./NoteForm'));

interface Props extends Omit<ComponentProps<typeof Plot>, 'marks' | 'onPin'> {
  about: About;
  /** The span whose marks are read, in milliseconds. */
  from: number;
  to: number;
}

/** A plot with what happened in its span, and a way to pin a note to a moment of it. */
export function Annotated({ about, from, to, ...plot }: Props) {
  const [marks, setMarks] = useState<Mark[]>();
  const [pin, setPin] = useState<number | null>(null);
  const mayPin = useMay('VIEW_STATISTICS_OVERVIEW');
  return (
    <>
      <Plot {...plot} marks={marks} onPin={mayPin ? (at) => setPin(Math.max(from, Math.min(at, to - 1))) : undefined} />
      <Suspense><Annotations about={about} from={from} to={to} timeZone={plot.timeZone} setMarks={setMarks} /></Suspense>
      {pin !== null && <Suspense><NoteForm about={about} at={pin} close={() => setPin(null)} /></Suspense>}
    </>
  );
}
