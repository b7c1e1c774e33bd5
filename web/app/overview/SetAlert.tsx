import { type FormEvent, useState } from 'react';
import { ask } from '../graph/client';
import { useAsk, useDo, useSettled } from '../graph/use';
import { day } from '../format/time';
import { bytes, parseBytes, useSystem } from '../format/units';
import { Failure } from '../shell/parts';

const create = 'mutation CreateAlert($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }';
const preview = `query PreviewAlert($input: CreateAlertInput!, $startDate: String!, $endDate: String!) {
  previewAlert(input: $input, startDate: $startDate, endDate: $endDate) { total firings { boundary at usage } }
}`;

interface Preview {
  previewAlert: { total: number; firings: { boundary: 'LOWER' | 'UPPER'; at: string; usage: string }[] };
}

const daysBack = 92;
const date = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

interface Props {
  subscriberId: string;
  done: () => void;
  cancel: () => void;
}

/** Sets an alert on a subscriber, and says beforehand when it would have fired. */
export function SetAlert({ subscriberId, done, cancel }: Props) {
  const [lower, setLower] = useState('500 MB');
  const [upper, setUpper] = useState('1 GB');
  const input = inputOf(subscriberId, lower, upper);
  const save = useDo(async () => {
    await ask(create, { input });
    done();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typeof input === 'object') void save.run();
  };
  return (
    <form className="set-alert" onSubmit={submit}>
      <p className="hint">You are told when this subscriber uses more in one billing period. It is not barred by that.</p>
      <div className="fields">
        <Threshold name="Lower threshold" text={lower} change={setLower} />
        <Threshold name="Upper threshold" text={upper} change={setUpper} />
      </div>
      <Foresight input={input} />
      {save.problem && <Failure problem={save.problem} />}
      <p className="actions">
        <button type="submit" className="primary" disabled={save.busy || typeof input === 'string'}>Set the alert</button>
        <button type="button" onClick={cancel}>Cancel</button>
      </p>
    </form>
  );
}

type Input = { ruleType: string; target: string; lowerThreshold: string; upperThreshold: string };

/** The alert as the graph takes it, or what is wrong with it. */
function inputOf(target: string, lower: string, upper: string): Input | string {
  const [lowerThreshold, upperThreshold] = [parseBytes(lower), parseBytes(upper)];
  if (lowerThreshold === null || upperThreshold === null) return 'Write thresholds such as 500 MB, 1.5 GiB or 200000.';
  if (BigInt(lowerThreshold) > BigInt(upperThreshold)) return 'The lower threshold is above the upper one.';
  return { ruleType: 'SIM', target, lowerThreshold, upperThreshold };
}

function Threshold({ name, text, change }: { name: string; text: string; change: (text: string) => void }) {
  useSystem();
  const value = parseBytes(text);
  return (
    <label>
      {name}
      <input value={text} onChange={(event) => change(event.target.value)} aria-invalid={value === null} inputMode="decimal" required />
      <span className="hint">{value === null ? '\u00a0' : bytes(value)}</span>
    </label>
  );
}

/** When the alert would have fired in the past. */
function Foresight({ input }: { input: Input | string }) {
  const wanted = useSettled(JSON.stringify(input), 400);
  const fits = wanted.startsWith('{');
  const asked = useAsk<Preview>(fits ? preview : null, { input: fits ? JSON.parse(wanted) : null, startDate: date(daysBack), endDate: date(0) });
  if (typeof input === 'string') return <p className="foresight" role="status">{input}</p>;
  if (asked.problem) return <p className="foresight" role="status">{asked.problem.message}</p>;
  if (!asked.data) return <p className="foresight" role="status">Looking at the last three months …</p>;
  const { total, firings } = asked.data.previewAlert;
  if (total === 0) return <p className="foresight" role="status">It would not have fired in the last three months.</p>;
  return (
    <div className="foresight" role="status">
      It would have fired {total === 1 ? 'once' : `${total} times`} in the last three months:
      <ul>
        {firings.slice(-4).map((firing) => (
          <li key={firing.at + firing.boundary}>
            {day(firing.at)} · {firing.boundary === 'UPPER' ? 'upper' : 'lower'} threshold, at {bytes(firing.usage)}
          </li>
        ))}
      </ul>
    </div>
  );
}
