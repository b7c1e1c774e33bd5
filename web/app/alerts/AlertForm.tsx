import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { bytes, parseBytes, useSystem } from '../format/units';
import { graphql } from '../graph/graphql';
import { type Doing, useAsk, useSettled } from '../graph/use';
import { nouns } from '../picker/choices';
import { Pick } from '../picker/Picker';
import { Failure } from '../shell/parts';
import { useUnsaved } from '../shell/unsaved';
import { BackTest } from './BackTest';
import { NobodyMailed } from './NobodyMailed';
import { rules } from './words';

export interface Input {
  ruleType: 'SIM' | 'COMPANY' | 'GROUPPR' | 'GROUPFPTP';
  target: string;
  lowerThreshold: string;
  upperThreshold: string;
}

/** What people call an alert; null for none. */
export interface Words {
  name: string | null;
  description: string | null;
}

interface Props {
  start: { ruleType: Input['ruleType']; target: string; lower: string; upper: string; words?: Words };
  /** What the alert watches stays as it is. */
  fixed?: boolean;
  verb: string;
  save: Doing<[Input & Words]>;
  /** What is said where saving failed, in place of the error alone. */
  failure?: ReactNode;
  /** The way out, beside the button that saves. */
  cancel: ReactNode;
}

/** An alert as the graph takes it, or what is missing. */
function inputOf(ruleType: Input['ruleType'], target: string, lower: string, upper: string): Input | string {
  const [lowerThreshold, upperThreshold] = [parseBytes(lower), parseBytes(upper)];
  if (ruleType === 'SIM' && target === '') return 'Choose a subscriber.';
  if (ruleType.startsWith('GROUP') && target === '') return 'Choose a group.';
  if (lowerThreshold === null || upperThreshold === null) return 'Write thresholds such as 500 MB, 1.5 GB or 200000.';
  if (BigInt(lowerThreshold) > BigInt(upperThreshold)) return 'The lower threshold is above the upper one.';
  return { ruleType, target: ruleType === 'COMPANY' ? '' : target, lowerThreshold, upperThreshold };
}

/** What an alert watches, its thresholds, and when it would have fired. */
export function AlertForm({ start, fixed = false, verb, save, failure, cancel }: Props) {
  const [ruleType, setRule] = useState(start.ruleType);
  const [target, setTarget] = useState(start.target);
  const [lower, setLower] = useState(start.lower);
  const [upper, setUpper] = useState(start.upper);
  const [words, setWords] = useState<Words>(start.words ?? { name: null, description: null });
  const [typed, setTyped] = useState(false);
  useUnsaved(typed);
  const input = inputOf(ruleType, target.trim(), lower, upper);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typeof input === 'object') void save.run({ ...input, ...words }).then((saved) => saved && setTyped(false));
  };
  return (
    <form className="alert-form" onSubmit={submit} onInput={() => setTyped(true)}>
      {!fixed && (
        <fieldset className="choices">
          <legend>What it watches</legend>
          {Object.entries(rules).map(([key, name]) => (
            <label key={key} className="inline"><input type="radio" name="rule" value={key} checked={key === ruleType} onChange={() => { setRule(key as Input['ruleType']); setTarget(''); }} />{name}</label>
          ))}
        </fieldset>
      )}
      {!fixed && ruleType === 'SIM' && <SubscriberInput value={target} change={setTarget} />}
      {!fixed && ruleType.startsWith('GROUP') && <GroupInput value={target} change={setTarget} />}
      <WordsInput of={words} change={setWords} />
      <div className="fields">
        <Threshold name="Lower threshold" text={lower} change={setLower} />
        <Threshold name="Upper threshold" text={upper} change={setUpper} />
      </div>
      <p className="hint">Recipients get a mail when usage is above a threshold, once in each billing period. Nothing is barred by it.</p>
      {typeof input === 'string' ? <p className="foresight" role="status">{input}</p> : <BackTest input={input} />}
      {failure ?? (save.problem && <Failure problem={save.problem} />)}
      <NobodyMailed />
      <p className="actions">
        <button type="submit" className="primary" disabled={save.busy || typeof input === 'string'}>{verb}</button>
        {cancel}
      </p>
    </form>
  );
}

/** The name and the description of an alert. */
export function WordsInput({ of: { name, description }, change }: { of: Words; change: (words: Words) => void }) {
  const orNull = (text: string) => (text.trim() === '' ? null : text);
  return (
    <div className="fields">
      <label>Name<input value={name ?? ''} maxLength={250} placeholder="Optional" onChange={(event) => change({ name: orNull(event.target.value), description })} /></label>
      <label>What it is for<input value={description ?? ''} maxLength={1000} placeholder="Optional" onChange={(event) => change({ name, description: orNull(event.target.value) })} /></label>
    </div>
  );
}

const search = graphql(`query SubscribersToWatch($text: String!) {
  subscribers(first: 12, filter: {or: [{subscriberId: {like: $text}}, {nickname: {like: $text}}, {physicalId: {like: $text}}]}) { nodes { physicalId subscriberId nickname } }
}`);

/** A subscriber by its subscriberId, with suggestions. */
export function SubscriberInput({ value, change }: { value: string; change: (value: string) => void }) {
  const id = useId();
  const text = useSettled(value.trim(), 200);
  const { data, former } = useAsk(text.length > 1 ? search : null, { text });
  const found = (data ?? former)?.subscribers?.nodes ?? [];
  const exact = found.find(({ subscriberId }) => subscriberId === value.trim());
  return (
    <label>Subscriber
      <input list={id} value={value} autoComplete="off" spellCheck={false} placeholder="Nickname, MSISDN or ICCID" onChange={(event) => change(event.target.value)} required />
      <datalist id={id}>{found.map(({ physicalId, subscriberId, nickname }) => <option key={physicalId} value={subscriberId} label={`${nickname || physicalId} · ${subscriberId}`} />)}</datalist>
      <span className="hint">{exact ? exact.nickname || exact.physicalId : 'The subscriber ID; suggestions come as you type.'}</span>
    </label>
  );
}

/** One of the groups. */
export const GroupInput = ({ value, change }: { value: string; change: (value: string) => void }) => <Pick of={nouns.group} label="Group" isRequired value={value} change={change} />;

function Threshold({ name, text, change }: { name: string; text: string; change: (text: string) => void }) {
  useSystem();
  const value = parseBytes(text);
  return (
    <label>
      {name}
      <input value={text} onChange={(event) => change(event.target.value)} aria-invalid={value === null} required />
      <span className="hint">{value === null ? 'such as 500 MB' : bytes(value)}</span>
    </label>
  );
}
