import { type FormEvent, useState } from 'react';
import { parseBytes } from '../format/units';
import { graphql, type VariablesOf } from '../graph/graphql';
import { mutate, useDo } from '../graph/use';
import { Failure } from '../shell/parts';
import { Sheet } from '../ui/Sheet';
import { GroupInput, SubscriberInput, type Words, WordsInput } from './AlertForm';
import { ConditionBackTest } from './ConditionBackTest';
import { traits } from './conditions';
import { NobodyMailed } from './NobodyMailed';
import { rules } from './words';

const create = graphql('mutation CreateCondition($input: CreateConditionAlertInput!) { createConditionAlert(input: $input) { alert { alertId } } }');

export type Input = VariablesOf<typeof create>['input'];
type Condition = Input['condition'];
type Traits = Extract<Condition, { changesOf: unknown }>['changesOf'];

const asks: Record<string, { name: string; label: string; start: string; hint: string }> = {
  silent: { name: 'It is silent', label: 'For how many hours', start: '24', hint: 'Neither usage nor a session. What was barred or terminated is not missed, and a source that ends is reported once.' },
  source: { name: 'A source is silent', label: 'For how many minutes', start: '30', hint: 'A gateway, or another source, reports nothing at all. Without a condition it is noticed after 6 hours, a source without gateways after 48.' },
  storm: { name: 'It begins too many sessions', label: 'More than, in an hour', start: '20', hint: 'Counted by the hours of the clock (UTC).' },
  forecast: { name: 'It will use too much', label: 'More than, in the billing period', start: '1 GB', hint: 'By the usage so far, and the median of each weekday of the last four weeks. It needs three weeks of history.' },
  change: { name: 'A value changes', label: 'Which', start: '', hint: 'As sessions report it. The first value is learned, and one of the last four that comes back is no change.' },
};

/** The condition as the graph takes it, or what is missing. */
function conditionOf(kind: string, value: string, chosen: ReadonlySet<string>): Condition | string {
  const number = /^\d{1,9}$/.test(value.trim()) ? Number(value) : 0;
  const bytes = parseBytes(value);
  switch (kind) {
    case 'silent': return number >= 1 && number <= 2160 ? { silentHours: number } : 'Write 1 to 2160 hours.';
    case 'source': return number >= 5 && number <= 2880 ? { sourceSilentMinutes: number } : 'Write 5 to 2880 minutes.';
    case 'storm': return number >= 1 && number <= 1_000_000 ? { sessionsPerHour: number } : 'Write 1 to 1000000 sessions.';
    case 'forecast': return bytes === null ? 'Write a limit such as 500 MB or 1.5 GB.' : { forecastBytes: bytes };
    default: return chosen.size > 0 ? { changesOf: [...chosen] as Traits } : 'Choose at least one value.';
  }
}

/** Makes an alert on a condition. */
export function ConditionForm({ close }: { close: () => void }) {
  const [ruleType, setRule] = useState<Input['ruleType']>('COMPANY');
  const [target, setTarget] = useState('');
  const [kind, setKind] = useState('silent');
  const [value, setValue] = useState(asks.silent!.start);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(['IMEI']));
  const [words, setWords] = useState<Words>({ name: null, description: null });
  const { label, hint } = asks[kind]!;
  const condition = conditionOf(kind, value, chosen);
  const missing = typeof condition === 'string' ? condition : ruleType !== 'COMPANY' && target.trim() === '' ? 'Choose what it watches.' : null;
  const input = { ruleType, target: ruleType === 'COMPANY' ? '' : target.trim(), condition: condition as Condition };
  const save = useDo(async () => {
    await mutate(create, { input: { ...input, ...words } });
    close();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (missing === null) void save.run();
  };
  return (
    <Sheet title="New condition" cancel={close}>
      <form className="stacked" onSubmit={submit}>
        <label>Notice when
          <select aria-label="Notice when" value={kind} onChange={(event) => {
            setKind(event.target.value);
            setValue(asks[event.target.value]!.start);
            if (event.target.value === 'source') setRule('COMPANY');
            if (event.target.value === 'change' && ruleType === 'GROUPPR') setRule('GROUPFPTP');
          }}>
            {Object.entries(asks).map(([key, { name }]) => <option key={key} value={key}>{name}</option>)}
          </select>
        </label>
        {kind === 'change' ? (
          <fieldset className="choices">
            <legend>{label}</legend>
            {Object.entries(traits).map(([key, name]) => (
              <label key={key} className="inline"><input type="checkbox" checked={chosen.has(key)} onChange={(event) => setChosen(new Set(event.target.checked ? [...chosen, key] : [...chosen].filter((one) => one !== key)))} /> {name}</label>
            ))}
          </fieldset>
        ) : <label>{label}<input value={value} inputMode={kind === 'forecast' ? 'text' : 'numeric'} aria-invalid={typeof condition === 'string'} onChange={(event) => setValue(event.target.value)} required /></label>}
        <p className="hint">{hint}</p>
        <fieldset className="choices">
          <legend>What it watches</legend>
          {Object.entries(rules).filter(([key]) => (kind !== 'change' || key !== 'GROUPPR') && (kind !== 'source' || key === 'COMPANY')).map(([key, name]) => (
            <label key={key} className="inline"><input type="radio" name="rule" value={key} checked={key === ruleType} onChange={() => { setRule(key as Input['ruleType']); setTarget(''); }} />{name}</label>
          ))}
        </fieldset>
        {ruleType === 'SIM' && <SubscriberInput value={target} change={setTarget} />}
        {ruleType.startsWith('GROUP') && <GroupInput value={target} change={setTarget} />}
        <WordsInput of={words} change={setWords} />
        {missing ? <p className="hint" role="status">{missing}</p> : kind !== 'source' && <ConditionBackTest input={input} />}
        {save.problem && <Failure problem={save.problem} />}
        <NobodyMailed />
        <p className="actions">
          <button type="button" onClick={close}>Cancel</button>
          <button type="submit" className="primary" disabled={save.busy || missing !== null}>Set the alert</button>
        </p>
      </form>
    </Sheet>
  );
}
