import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { ComboBox, Input, Label, ListBox, ListBoxItem, Popover, Text } from 'react-aria-components';
import { Failure } from '../shell/parts';
import { Close } from '../shell/icons';
import { type Choice, type Noun, useChoices, useNamed, useNames } from './choices';

interface FieldProps {
  label: string;
  /** The label is read out and not shown. */
  isBare?: boolean;
  placeholder?: string;
  hint?: string;
  isRequired?: boolean;
  maxLength?: number;
  autoFocus?: boolean;
  fault?: string | null;
}

interface ListProps extends FieldProps {
  choices: Choice[];
  isComplete: boolean;
  reading: boolean;
  text: string;
  setText: (text: string) => void;
  selected: string | null;
  select: (key: string) => void;
  /** What is written need not be listed. */
  isFree?: boolean;
}

/** A text field with a list of what fits. The list lies over dialogs, too. */
function Field({ label, isBare, placeholder, hint, isRequired, maxLength, autoFocus, fault, choices, isComplete, reading, text, setText, selected, select, isFree }: ListProps) {
  const layer = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (open) layer.current?.showPopover();
    else layer.current?.hidePopover();
  }, [open]);
  const pressed = (event: KeyboardEvent) => {
    // Escape closes the list, and not the dialog around it.
    if (event.key === 'Escape') event.preventDefault();
    // By Enter the combo box closes its list. A text that need not be listed is sent then.
    const input = event.target as HTMLInputElement;
    if (event.key === 'Enter' && isFree && !input.hasAttribute('aria-activedescendant')) setTimeout(() => input.form?.requestSubmit());
  };
  return (
    <ComboBox
      className="picker"
      aria-label={isBare ? label : undefined}
      items={choices.map((one) => ({ id: one.key, ...one }))}
      inputValue={text}
      onInputChange={setText}
      selectedKey={selected}
      onSelectionChange={(key) => key !== null && select(String(key))}
      onOpenChange={setOpen}
      allowsCustomValue={isFree}
      allowsEmptyCollection={!isFree}
      isInvalid={Boolean(fault)}
      menuTrigger="focus"
    >
      {!isBare && <Label>{label}</Label>}
      <span className="picker-field" onKeyDownCapture={(event) => open && pressed(event)}>
        <Input placeholder={placeholder} required={isRequired} maxLength={maxLength} autoFocus={autoFocus} spellCheck={false} autoComplete="off" />
      </span>
      {hint && <Text slot="description" className="hint">{hint}</Text>}
      {fault && <span className="fault" role="alert">{fault}</span>}
      <div ref={layer} popover="manual" className="picker-layer" />
      <Popover className="picker-list" UNSTABLE_portalContainer={layer.current ?? undefined} offset={4} maxHeight={280}>
        <ListBox<Choice & { id: string }> renderEmptyState={() => <p className="hint">{reading ? 'Searching …' : 'Nothing fits.'}</p>}>
          {({ key, text, note }) => <ListBoxItem id={key} textValue={text}><span>{text}</span>{note && <span className="hint">{note}</span>}</ListBoxItem>}
        </ListBox>
        {!isComplete && <p className="hint">There are more. Type to find them.</p>}
      </Popover>
    </ComboBox>
  );
}

interface PickProps extends FieldProps {
  of: Noun;
  /** The key of what is picked; "" for none. */
  value: string;
  change: (key: string) => void;
  /** Offered before the others, such as no group. */
  first?: Choice[];
}

/** Picks one that there is. */
export function Pick({ of, value, change, first = [], ...field }: PickProps) {
  const names = useNames(of, value === '' || first.some(({ key }) => key === value) ? [] : [value]);
  const [last, setLast] = useState<Choice | null>(null);
  const name = value === '' ? '' : ((last?.key === value ? last : first.find(({ key }) => key === value))?.text ?? names.get(value) ?? value);
  const [written, setWritten] = useState<string | null>(null);
  const text = written ?? name;
  const sought = text === name ? '' : text;
  const { choices, isComplete, reading, problem } = useChoices(of, sought);
  const fits = first.filter((one) => one.text.toLowerCase().includes(sought.toLowerCase()));
  const shown = [...fits, ...choices];
  const selected = value === '' ? null : value;
  // What is picked stays in the list, which would empty the field otherwise.
  const all = selected === null || shown.some(({ key }) => key === selected) ? shown : [...shown, { key: selected, text: name }];
  const select = (key: string) => {
    setLast(all.find((one) => one.key === key) ?? null); // it has its name at once
    setWritten(null);
    change(key);
  };
  const write = (next: string) => {
    setWritten(next === name ? null : next);
    if (next === '' && value !== '') change('');
  };
  return (
    <>
      <Field {...field} choices={all} isComplete={isComplete} reading={reading} text={text} setText={write} selected={selected} select={select} />
      {problem && <Failure problem={problem} />}
    </>
  );
}

/** Writes a text, which may be one that there is. */
export function Suggested({ of, value, change, except = [], ...field }: Omit<PickProps, 'first'> & { except?: readonly string[] }) {
  const { choices, isComplete, reading } = useChoices(of, value);
  return <Field {...field} isFree choices={choices.filter(({ key }) => !except.includes(key))} isComplete={isComplete} reading={reading} text={value} setText={change} selected={null} select={change} />;
}

interface SomeProps {
  of: Noun;
  label: string;
  chosen: ReadonlySet<string>;
  change: (chosen: ReadonlySet<string>) => void;
  /** What a key is called that is there no more. */
  gone?: (key: string) => string;
  hint?: string;
}

/** Picks several that there are; each stands as a chip. */
export function PickSome({ of, label, chosen, change, gone = (key) => key, hint }: SomeProps) {
  const id = useId();
  const [text, setText] = useState('');
  const list = useRef<HTMLUListElement>(null);
  const { names, isRead } = useNamed(of, [...chosen]);
  // What is picked has its name at once.
  const [picked, setPicked] = useState<ReadonlyMap<string, string>>(new Map());
  const { choices, isComplete, reading, problem } = useChoices(of, text);
  const pick = (key: string) => {
    setText('');
    setPicked(new Map([...picked, [key, choices.find((one) => one.key === key)?.text ?? key]]));
    change(new Set([...chosen, key]));
  };
  const remove = (key: string) => {
    list.current?.focus(); // the button that had the focus goes
    change(new Set([...chosen].filter((one) => one !== key)));
  };
  return (
    <div className="picker-some" role="group" aria-labelledby={id}>
      <span id={id} className="picker-legend">{label}</span>
      <ul className="chips" ref={list} tabIndex={-1} aria-label={`${label} that are chosen`} hidden={chosen.size === 0}>
        {[...chosen].map((key) => {
          const name = names.get(key) ?? picked.get(key) ?? (isRead ? gone(key) : key);
          return <li key={key} className="chip">{name}<button type="button" aria-label={`Remove ${name}`} onClick={() => remove(key)}><Close /></button></li>;
        })}
      </ul>
      <Field
        label={label} isBare placeholder="Type to find" hint={hint} choices={choices.filter(({ key }) => !chosen.has(key))} isComplete={isComplete} reading={reading} text={text} setText={setText} selected={null}
        select={pick}
      />
      {problem && <Failure problem={problem} />}
    </div>
  );
}
