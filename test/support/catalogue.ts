import { ask } from './ask.ts'

const ofService = `relnamespace = 'public'::regnamespace`

/** What defines the schema of a database, a line each: tables, columns, constraints, indexes, types, functions, triggers. */
export const readCatalogue = async (url: string): Promise<string[]> =>
  (
    await ask(
      url,
      `SELECT concat_ws(' ', 'table', relname, relkind, reloptions) AS line FROM pg_class WHERE ${ofService}
       UNION ALL SELECT concat_ws(' ', 'column', relname, attnum, attname, format_type(atttypid, atttypmod), attcollation::regcollation,
           attnotnull, pg_get_expr(adbin, adrelid))
         FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
         LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
         WHERE ${ofService} AND relkind = 'r' AND attnum > 0
       UNION ALL SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid), convalidated)
         FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 't'
       UNION ALL SELECT concat_ws(' ', 'foreign keys to', confrelid::regclass, string_agg(conname, ' ' ORDER BY oid))
         FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype = 'f' GROUP BY confrelid
       UNION ALL SELECT concat_ws(' ', 'index', pg_get_indexdef(indexrelid), indisvalid)
         FROM pg_index JOIN pg_class ON pg_class.oid = indrelid WHERE ${ofService}
       UNION ALL SELECT concat_ws(' ', 'type', typname, string_agg(enumlabel, ' ' ORDER BY enumsortorder))
         FROM pg_type JOIN pg_enum ON enumtypid = pg_type.oid GROUP BY typname
       UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
       UNION ALL SELECT concat_ws(' ', pg_get_triggerdef(pg_trigger.oid), tgenabled)
         FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid WHERE ${ofService} AND NOT tgisinternal
       UNION ALL SELECT concat_ws(' ', 'setting', setconfig::text) FROM pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase
         WHERE datname = current_database() AND setrole = 0
       ORDER BY 1`,
    )
  ).map(({ line }) => line)
