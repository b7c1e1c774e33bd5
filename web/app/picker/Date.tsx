// The fields of Dates, which are loaded when one is first shown: they take 45 kB.
import { Suspense } from 'react';
import { part } from '../shell/part';
import type { DateProps } from './Dates';

const Day = part(async () => ({ default: (await import('./Dates')).DayField }));
const Moment = part(async () => ({ default: (await import('./Dates')).MomentField }));

const waiting = ({ label, isControl }: DateProps) => <label className={isControl ? 'date control' : 'date'}>{label}<input disabled /></label>;

/** A day of the calendar. */
export const DayField = (props: DateProps) => <Suspense fallback={waiting(props)}><Day {...props} /></Suspense>;

/** A moment by the clocks of the company. */
export const MomentField = (props: DateProps) => <Suspense fallback={waiting(props)}><Moment {...props} /></Suspense>;
