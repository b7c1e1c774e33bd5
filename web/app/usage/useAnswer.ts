import { useMemo } from 'react';
import { useAsk } from '../graph/use';
import { useViewer } from '../shell/viewer';
import { type Answer, operationOf, resultOf } from './ask';
import { type Definition, faultOf } from './question';
import { spanOf } from './span';

/** Asks a question, where nothing is wrong with it and its span has begun. A span that runs ends with the hour of the last reading. */
export function useAnswer(d: Definition, reading = 0) {
  const { company } = useViewer();
  const { timeZone } = company;
  const fault = faultOf(d);
  // Equal questions within an hour are equal requests.
  const span = useMemo(() => (fault === null ? spanOf(d, company) : null), [d, company, fault, reading]);
  const operation = useMemo(() => (span && span.to > span.from ? operationOf(d, span, timeZone) : null), [d, span, timeZone]);
  const asked = useAsk<Answer>(operation?.document ?? null, operation?.variables ?? {});
  const result = useMemo(() => (asked.data && span ? resultOf(asked.data, d, span) : undefined), [asked.data, d, span]);
  return { fault, span, operation, asked, result };
}
