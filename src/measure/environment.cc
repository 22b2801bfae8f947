#include "throttletest/measure/environment.h"
