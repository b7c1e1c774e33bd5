import { type FormEvent, Suspense, useId, useState } from 'react';
import { type Noun, nouns, useGroupNames } from '../picker/choices';
import { DayField } from '../picker/Date';
import { Pick, Suggested } from '../picker/later';
import { Close } from '../shell/icons';
import { changed, go, toSubscribers } from '../shell/route';
import { Popover } from '../ui/Popover';
import { type Field, fieldOf, fields, type Kind, operatorsOf } from './fields';
import { type Condition, conditionsOf, faultOf, states, withConditions, wordsOf } from './filters';

/** The state and the conditions of the list, each to be changed and taken away. All of it stands in the address. */
export function FilterBar({ params }: { params: URLSearchParams }) {
  const conditions = conditionsOf(params);
  const groups = useGroupNames(conditions.filter(({ field }) => field === 'groupId').map(({ value }) => value));
  const state = params.get('state') ?? '';
  const set = (next: Condition[]) => go(toSubscribers(withConditions(params, next)));
  const put = (i: number, condition: Condition) => set(i < conditions.length ? conditions.map((one, j) => (i === j ? condition : one)) : [...conditions, condition]);
  return (
    <div className="filters">
      <nav className="switch" aria-label="State">
        <a href={toSubscribers(changed(params, { state: null }))} aria-current={state === '' ? 'true' : undefined}>All</a>
        {Object.entries(states).map(([key, { name }]) => (
          <a key={key} href={toSubscribers(changed(params, { state: key }))} aria-current={state === key ? 'true' : undefined}>{name}</a>
        ))}
      </nav>
      {conditions.map((condition, i) => {
        const words = wordsOf(condition, groups);
        return (
          <span key={`${i}${words}`} className="chip">
            {condition.field === 'search' ? words : (
              <Popover button={words} label="Change the filter" className="bare">
                {(close) => <ConditionForm of={condition} done={(next) => { close(); put(i, next); }} />}
              </Popover>
            )}
            <button type="button" aria-label={`Remove the filter ${words}`} onClick={() => set(conditions.filter((_, j) => i !== j))}><Close /></button>
          </span>
        );
      })}
      <Popover button="Add a filter" label="Add a filter" className="add">
        {(close) => <ConditionForm done={(next) => { close(); put(conditions.length, next); }} />}
      </Popover>
      {conditions.length > 1 && <a href={toSubscribers(withConditions(params, []))}>Remove all</a>}
    </div>
  );
}

interface FormProps {
  of?: Condition;
  done: (condition: Condition) => void;
}

/** The fields whose values are picked from what there is. */
const pickedOf: Record<string, Noun> = { groupId: nouns.group, tags: nouns.tag, operatorName: nouns.operatorName, operatorCode: nouns.operatorCode, tariffName: nouns.tariff };

/** A field, how it is compared, and with what. */
function ConditionForm({ of, done }: FormProps) {
  const [key, setKey] = useState(of?.field ?? 'nickname');
  const field = fieldOf(key)!;
  const operators = operatorsOf(field);
  const [chosen, setChosen] = useState(of?.operator ?? '');
  const operator = operators.find((one) => one.key === chosen) ?? operators[0]!;
  const [value, setValue] = useState(of?.value ?? '');
  const [tried, setTried] = useState(false);
  const fault = operator.bare ? null : operator.key === 'in' ? (value.trim() === '' ? 'Write values with commas between them.' : null) : faultOf(field, value);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (fault === null) done({ field: key, operator: operator.key, value: operator.bare ? '' : value.trim() });
  };
  return (
    <form className="condition" onSubmit={submit} noValidate>
      <label>Field
        <select autoFocus value={key} onChange={(event) => { setKey(event.target.value); setChosen(''); setValue(''); setTried(false); }}>
          {fields.map(({ key, name }) => <option key={key} value={key}>{name}</option>)}
        </select>
      </label>
      <label>Condition
        <select value={operator.key} onChange={(event) => setChosen(event.target.value)}>
          {operators.map(({ key, name }) => <option key={key} value={key}>{name}</option>)}
        </select>
      </label>
      {!operator.bare && <Value field={field} isList={operator.key === 'in'} value={value} change={setValue} fault={tried ? fault : null} />}
      <p className="actions"><button type="submit" className="primary">Apply</button></p>
    </form>
  );
}

const placeholders: Partial<Record<Kind, string>> = { bytes: 'such as 500 MB' };

interface ValueProps {
  field: Field;
  /** Several values may be written, with commas between them. */
  isList: boolean;
  value: string;
  change: (value: string) => void;
  fault: string | null;
}

function Value({ field, isList, value, change, fault }: ValueProps) {
  const id = useId();
  const noun = isList ? undefined : pickedOf[field.key];
  // A group is one that there is; texts may be a part of a name.
  const Picked = field.kind === 'group' ? Pick : Suggested;
  if (noun) return <Suspense fallback={<label>Value<input disabled /></label>}><Picked of={noun} label="Value" value={value} change={change} fault={fault} /></Suspense>;
  if (field.kind === 'date') return <DayField label="Value" value={value} change={change} fault={fault} />;
  const missing = value !== '' && !field.choices?.some(([key]) => key === value);
  const common = { value, 'aria-invalid': fault !== null, 'aria-describedby': fault ? `${id}-fault` : undefined };
  return (
    <label>Value
      {field.choices ? (
        <select {...common} onChange={(event) => change(event.target.value)}>
          <option value="" disabled>Choose …</option>
          {field.choices.map(([key, name]) => <option key={key} value={key}>{name}</option>)}
          {missing && <option value={value}>{value}</option>}
        </select>
      ) : (
        <input {...common} type="text" placeholder={placeholders[field.kind]} spellCheck={false} autoComplete="off" onChange={(event) => change(event.target.value)} />
      )}
      {fault && <span className="fault" id={`${id}-fault`} role="alert">{fault}</span>}
    </label>
  );
}
