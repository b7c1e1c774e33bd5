import { useState } from 'react';
import type { Row } from './columns';
import type { Selection } from '../ui/Table';

export interface Chosen {
  ids: ReadonlySet<string>;
  /** All rows that match are chosen, also those that are not shown. */
  matching: boolean;
  chooseMatching: () => void;
  clear: () => void;
  selection: Selection;
}

/** Which subscribers of a list are chosen. Another list begins with none. */
export function useChosen(list: string, rows: Row[]): Chosen {
  const [state, setState] = useState<{ list: string; ids: ReadonlySet<string>; matching: boolean }>({ list, ids: new Set(), matching: false });
  const { ids, matching } = state.list === list ? state : { ids: new Set<string>(), matching: false };
  const set = (ids: ReadonlySet<string>, matching = false) => setState({ list, ids, matching });
  const shown = rows.map(({ physicalId }) => physicalId);
  return {
    ids, matching,
    chooseMatching: () => set(new Set(shown), true),
    clear: () => set(new Set()),
    selection: {
      has: (key) => matching || ids.has(key),
      toggle: (_, chosen, range) => {
        const next = new Set(matching ? shown : ids);
        range.forEach((key) => (chosen ? next.add(key) : next.delete(key)));
        set(next);
      },
      all: shown.length > 0 && shown.every((key) => matching || ids.has(key)),
      toggleAll: (chosen) => set(new Set(chosen ? shown : [])),
      nameOf: (key) => rows.find(({ physicalId }) => physicalId === key)?.nickname || key,
    },
  };
}
