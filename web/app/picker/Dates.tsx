import { parseDate, parseDateTime, toCalendarDateTime, today } from '@internationalized/date';
import { useEffect, useRef, useState } from 'react';
import { Button, Calendar, CalendarCell, CalendarGrid, DateInput, DatePicker, DateSegment, type DateValue, Dialog, Group, Heading, I18nProvider, Label, Popover } from 'react-aria-components';
import { Calendar as CalendarSign, Next, Previous } from '../shell/icons';
import { useZone } from '../shell/viewer';

export interface DateProps {
  label: string;
  /** The label looks as that of a control, not as that of a form. */
  isControl?: boolean;
  /** A day as 2026-11-22, or a moment of the company's clocks as 2026-11-22T09:00; "" for none. */
  value: string;
  change: (value: string) => void;
  min?: string;
  max?: string;
  isRequired?: boolean;
  isDisabled?: boolean;
  autoFocus?: boolean;
  fault?: string | null;
}

interface FieldProps extends DateProps {
  read: (value: string) => DateValue;
  granularity: 'day' | 'minute';
}

// What is given in an address may be no date.
const valueOf = (read: FieldProps['read'], value: string | undefined): DateValue | null => {
  try {
    return value ? read(value) : null;
  } catch {
    return null;
  }
};

/** A date by its parts, as days are written everywhere on the page, beside a calendar that lies over dialogs, too. */
function Field({ label, isControl, value, change, min, max, isRequired, isDisabled, autoFocus, fault, read, granularity }: FieldProps) {
  const zone = useZone();
  const layer = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  // A year that is being written is that of a few digits first.
  const [unfinished, setUnfinished] = useState<DateValue | null>(null);
  const write = (next: DateValue | null) => {
    const isFinished = next === null || next.year >= 1000;
    setUnfinished(isFinished ? null : next);
    if (isFinished) change(next?.toString().slice(0, granularity === 'day' ? 10 : 16) ?? '');
  };
  useEffect(() => {
    if (open) layer.current?.showPopover();
    else layer.current?.hidePopover();
  }, [open]);
  return (
    <I18nProvider locale="en-GB">
      <DatePicker
        className={isControl ? 'date control' : 'date'} granularity={granularity} hourCycle={24} shouldForceLeadingZeros placeholderValue={granularity === 'day' ? today(zone) : toCalendarDateTime(today(zone))}
        value={unfinished ?? valueOf(read, value)} onChange={write}
        minValue={valueOf(read, min)} maxValue={valueOf(read, max)} isRequired={isRequired} isDisabled={isDisabled} isInvalid={fault ? true : undefined} autoFocus={autoFocus} isOpen={open} onOpenChange={setOpen}
      >
        <Label>{label}</Label>
        <Group className="date-field">
          <DateInput className="date-parts">{(segment) => <DateSegment segment={segment} />}</DateInput>
          <Button aria-label="Calendar"><CalendarSign /></Button>
        </Group>
        {fault && <span className="fault" role="alert">{fault}</span>}
        <div ref={layer} popover="manual" className="picker-layer" />
        <Popover className="picker-list" UNSTABLE_portalContainer={layer.current ?? undefined} offset={4}>
          <Dialog className="calendar">
            <Calendar>
              <header><Button slot="previous"><Previous /></Button><Heading /><Button slot="next"><Next /></Button></header>
              <CalendarGrid>{(date) => <CalendarCell date={date} />}</CalendarGrid>
            </Calendar>
          </Dialog>
        </Popover>
      </DatePicker>
    </I18nProvider>
  );
}

export const DayField = (props: DateProps) => <Field {...props} read={parseDate} granularity="day" />;

/** A moment by the clocks of the company. */
export const MomentField = (props: DateProps) => <Field {...props} read={parseDateTime} granularity="minute" />;
