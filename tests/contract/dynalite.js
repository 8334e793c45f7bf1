// Starts dynalite with one correction: a refused update brings the stored item back when it is asked to.
//
// Run as `node tests/contract/dynalite.js <port>`. dynalite is older than the parameter
// ReturnValuesOnConditionCheckFailure and drops it unread. It judges a condition while it holds a lock on the
// item, and the item is added there: no lock of ours makes an update atomic that would not be so by itself.
'use strict'

const TESTED_VERSION = '4.0.0'

const { version } = require('dynalite/package.json')
const db = require('dynalite/db')
const update = require('dynalite/validations/updateItem')

function refuse(what) {
  console.error(`tests/contract/dynalite.js corrects dynalite ${TESTED_VERSION} and must be looked at again: ${what}`)
  process.exit(1)
}

if (version !== TESTED_VERSION) refuse(`version ${version} is installed`)
if ('ReturnValuesOnConditionCheckFailure' in update.types) refuse('it knows the parameter now')
if (typeof db.checkConditional !== 'function') refuse('db.checkConditional is gone')

update.types.ReturnValuesOnConditionCheckFailure = { type: 'String', enum: ['ALL_OLD', 'NONE'] }

const check = db.checkConditional
db.checkConditional = (call, stored) => {
  const refusal = check(call, stored)
  if (refusal && stored && call.ReturnValuesOnConditionCheckFailure === 'ALL_OLD') refusal.body.Item = stored
  return refusal
}

require('dynalite')({ createTableMs: 0 }).listen(Number(process.argv[2]), '127.0.0.1')
