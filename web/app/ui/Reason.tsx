interface Props {
  value: string;
  change: (reason: string) => void;
  /** Stands in a row, without a label above it. */
  isBare?: boolean;
}

const name = 'Reason (optional)';

/** Why something is changed, in one line. It is kept with the change. */
export function Reason({ value, change, isBare = false }: Props) {
  const input = <input maxLength={500} value={value} onChange={(event) => change(event.target.value)} {...(isBare && { 'aria-label': name, placeholder: name })} />;
  return isBare ? input : <label>{name}{input}</label>;
}

/** The reason as an input of a mutation has it; nothing where none is written. */
export const given = (reason: string): { reason?: string } => (reason.trim() === '' ? {} : { reason });
