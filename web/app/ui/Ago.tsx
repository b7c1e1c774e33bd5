import { ago, momentInZone } from '../format/time';
import { useZone } from '../shell/viewer';

/** How long ago it was, with the moment itself under the pointer. */
export function Ago({ at, none = '–' }: { at: string | null; none?: string }) {
  const timeZone = useZone();
  if (at === null) return <span className="hint">{none}</span>;
  return <time dateTime={at} title={momentInZone(at, timeZone)}>{ago(at)}</time>;
}
