import { type FormEvent, useMemo, useState } from 'react';
import { NobodyMailed } from '../alerts/NobodyMailed';
import { graphql, type ResultOf, type VariablesOf } from '../graph/graphql';
import { sendMutation, useAsk, useDo, useSettled } from '../graph/use';
import { day, startOfDay } from '../format/time';
import { bytes, parseBytes, useSystem } from '../format/units';
import { Failure } from '../shell/parts';
import { useUnsaved } from '../shell/unsaved';
import { useZone } from '../shell/viewer';

const create = graphql('mutation CreateAlert($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }');
const preview = graphql(`query PreviewAlert($input: CreateAlertInput!, $startDate: String!, $endDate: String!) {
  previewAlert(input: $input, startDate: $startDate, endDate: $endDate) { total firings { boundary at usage } }
}`);

type Preview = NonNullable<ResultOf<typeof preview>['previewAlert']>;

const monthsBack = 3;
const mostFirings = 12;
const instant = (at: number) => new Date(at).toISOString();

interface Props {
  subscriberId: string;
  done: () => void;
  cancel: () => void;
}

/** Sets an alert on a subscriber, and shows beforehand when it would have fired. */
export function SetAlert({ subscriberId, done, cancel }: Props) {
  const [lower, setLower] = useState('500 MB');
  const [upper, setUpper] = useState('1 GB');
  const [typed, setTyped] = useState(false);
  useUnsaved(typed);
  const input = inputOf(subscriberId, lower, upper);
  const save = useDo(async () => {
    if (typeof input === 'object') await sendMutation(create, { input });
    done();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typeof input === 'object') void save.run();
  };
  return (
    <form className="set-alert" onSubmit={submit} onInput={() => setTyped(true)}>
      <p className="hint">The recipients get a mail when this subscriber uses more in one billing period. It does not bar the subscriber.</p>
      <div className="fields">
        <Threshold first name="Lower threshold" text={lower} change={setLower} />
        <Threshold name="Upper threshold" text={upper} change={setUpper} />
      </div>
      <Foresight input={input} />
      {save.problem && <Failure problem={save.problem} />}
      <NobodyMailed />
      <p className="actions">
        <button type="submit" className="primary" disabled={save.busy || typeof input === 'string'}>Set the alert</button>
        <button type="button" onClick={cancel}>Cancel</button>
      </p>
    </form>
  );
}

type Input = VariablesOf<typeof create>['input'];

/** The alert as the graph takes it, or what is wrong with it. */
function inputOf(target: string, lower: string, upper: string): Input | string {
  const [lowerThreshold, upperThreshold] = [parseBytes(lower), parseBytes(upper)];
  if (lowerThreshold === null || upperThreshold === null) return 'Write thresholds such as 500 MB, 1.5 GB or 200000.';
  if (BigInt(lowerThreshold) > BigInt(upperThreshold)) return 'The lower threshold is above the upper one.';
  return { ruleType: 'SIM', target, lowerThreshold, upperThreshold };
}

function Threshold({ name, text, change, first }: { name: string; text: string; change: (text: string) => void; first?: boolean }) {
  useSystem();
  const value = parseBytes(text);
  return (
    <label>
      {name}
      <input autoFocus={first} value={text} onChange={(event) => change(event.target.value)} aria-invalid={value === null} inputMode="decimal" required />
      <span className="hint">{value === null ? '\u00a0' : bytes(value)}</span>
    </label>
  );
}

/** When the alert would have fired in the past. */
function Foresight({ input }: { input: Input | string }) {
  const wanted = useSettled(JSON.stringify(input), 400);
  const timeZone = useZone();
  const span = useMemo(() => ({ startDate: instant(startOfDay(Date.now(), timeZone, { months: -monthsBack })), endDate: instant(startOfDay(Date.now(), timeZone, { days: 1 })) }), [timeZone]);
  const fits = wanted.startsWith('{');
  const { data, problem } = useAsk(fits ? preview : null, { input: (fits ? JSON.parse(wanted) : null) as Input, ...span });
  const text = typeof input === 'string' ? input : problem ? problem.message : !data?.previewAlert ? 'Looking at the last three months …' : null;
  if (text !== null) return <p className="foresight" role="status">{text}</p>;
  return <Firings of={data!.previewAlert!} timeZone={timeZone} />;
}

function Firings({ of: { total, firings }, timeZone }: { of: Preview; timeZone: string }) {
  if (total === 0) return <p className="foresight" role="status">It would not have fired in the last three months.</p>;
  const shown = firings.slice(-mostFirings);
  const hidden = total - shown.length;
  return (
    <div className="foresight" role="status">
      It would have fired {total === 1 ? 'once' : `${total} times`} in the last three months{hidden > 0 && `; the last ${shown.length}`}:
      <ul>
        {shown.map((firing) => (
          <li key={firing.at + firing.boundary}>
            {day(firing.at, timeZone)} · {firing.boundary === 'UPPER' ? 'upper' : 'lower'} threshold, at {bytes(firing.usage)}
          </li>
        ))}
      </ul>
    </div>
  );
}
