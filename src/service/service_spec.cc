#include "throttletest/service/service_spec.h"
